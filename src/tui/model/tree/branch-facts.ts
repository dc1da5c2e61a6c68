import { parameterOf } from '../../../base/scalar.js';
import { fits, type PlainVerb } from '../../../protocol/run-verbs.js';
import type { RunId, RunSummary } from '../../state/port.js';
import type { Branch } from './branch-index.js';
import { parameterText } from '../parameter-text.js';
import { runLabels } from './run-labels.js';
import { bestValues, curveValues, progressOf, type RunValues, tally, type Tally } from '../tally.js';

/** As many values as the trend of one run has at most. */
const points = 32;
/** Runs that are looked at: the mean of more looks the same in seven steps of height. */
const mostRuns = 256;

/**
 * What a row of a group shows beyond its tally. A branch is never changed, so each is computed once, and only for the
 * groups that are on the screen.
 */
export const trendOf = remembered((branch) => meanTrend(branch.runs));

/** Mean and deviation of another metric than the chosen one. */
export const spreadOf = remembered((branch, metric): Tally['metric'] => tally(branch.runs, metric).metric);

/** Mean and deviation of the best values of the objective. */
export const bestSpreadOf = remembered((branch): RunValues | null => bestValues(branch.runs));

/** Mean and deviation of what is read off the curves. */
export const curveSpreadOf = remembered((branch, word): RunValues | null => curveValues(branch.runs, word));

/** What tells the runs of a group apart, whatever divides it further; `letters`: `ascii`, or '' for any. */
export const labelsOf = remembered((branch, letters): readonly string[] =>
  runLabels(branch.runs, { isAscii: letters === 'ascii' }),
);

/** The value of a parameter that all runs have; null when they differ. */
export const commonValueOf = remembered((branch, parameter): string | null => {
  const first = parameterText(parameterOf(branch.runs[0]?.parameters ?? {}, parameter));
  return branch.runs.every(({ parameters }) => parameterText(parameterOf(parameters, parameter)) === first)
    ? first
    : null;
});

/** What the runs use of the machine together, in the units of a run; null: nothing, or not known. */
export const usageOf = remembered((branch, what): number | null => {
  const known = branch.runs.flatMap((run) => run[what as 'cpu' | 'memory' | 'gpuMemory'] ?? []);
  return known.length === 0 ? null : known.reduce((sum, size) => sum + size);
});

/** Whether a verb makes sense for any of the runs. */
export const suits = remembered((branch, verb): boolean => branch.runs.some(fits({ verb: verb as PlainVerb })));

/** The run that failed first, of those whose end is known, else any of them. */
export const firstFailureOf = remembered((branch): RunSummary => {
  const endOf = ({ endedAt }: RunSummary): number => endedAt ?? Infinity;
  return branch.runs.reduce((first, run) => (endOf(run) < endOf(first) ? run : first));
});

/** Whether all, some or none of a group's runs are marked. */
export function markState(branch: Branch, marks: ReadonlySet<RunId>): 'all' | 'some' | 'none' {
  if (marks.size === 0) return 'none';
  let [marked, others] = [false, false];
  for (const { id } of branch.runs) {
    if (marks.has(id)) marked = true;
    else others = true;
    if (marked && others) return 'some';
  }
  return marked ? 'all' : 'none';
}

function remembered<T>(compute: (branch: Branch, key: string) => T): (branch: Branch, key?: string) => T {
  const known = new WeakMap<Branch, Map<string, T>>();
  return (branch, key = '') => {
    let values = known.get(branch);
    if (values === undefined) known.set(branch, (values = new Map<string, T>()));
    if (!values.has(key)) values.set(key, compute(branch, key));
    return values.get(key)!;
  };
}

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
