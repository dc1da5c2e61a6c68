import type { RunSummary } from '../port.js';
import { progressOf } from './tally.js';

/** As many values as the trend of one run has at most. */
const points = 32;
/** Runs that are looked at: the mean of more looks the same in seven steps of height. */
const mostRuns = 256;

/**
 * The trends of several runs as one, from the beginning of a run to its end: at each part of the way the mean over those
 * runs that have come so far. Null where none has.
 */
export function meanTrend(runs: readonly RunSummary[]): (number | null)[] {
  const sums = new Float64Array(points);
  const counts = new Uint32Array(points);
  const every = Math.max(1, Math.ceil(runs.length / mostRuns));
  for (let index = 0; index < runs.length; index += every) addRun(runs[index]!, sums, counts);
  return Array.from(sums, (sum, at) => (counts[at] === 0 ? null : sum / counts[at]!));
}

function addRun(run: RunSummary, sums: Float64Array, counts: Uint32Array): void {
  const { spark } = run;
  // A run that does not know how far it is has come all the way that is known.
  const extent = run.progress === null ? 1 : progressOf(run);
  const reached = Math.min(points, Math.ceil(extent * points));
  for (let at = 0; at < reached; at++) {
    const value = spark[Math.floor((at * spark.length) / reached)];
    if (value === undefined || value === null || !Number.isFinite(value)) continue;
    sums[at] = sums[at]! + value;
    counts[at] = counts[at]! + 1;
  }
}
