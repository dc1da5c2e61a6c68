import { dirname, sep } from 'node:path';
import type { ReportedRun } from '../analysis/analysed-run.js';
import type { Origin } from '../analysis/study/metric-intervals.js';

/** The parameters of a run, and its directory in that of its sweep. */
export type PlacedRun = Pick<ReportedRun, 'parameters' | 'directory'>;

/** Where runs come from: their seeds, and the run of the sweep whose files each started from, such as a pretrained model. */
export function originsOf(runs: readonly PlacedRun[]): Origin[] {
  const base = baseKey(runs);
  return runs.map(({ parameters }) => {
    const seeds = Object.entries(parameters).filter(([key]) => isSeed(key));
    return {
      pair: seeds.length === 0 ? null : JSON.stringify(seeds),
      base: base === null ? '' : JSON.stringify(parameters[base]),
    };
  });
}

const isSeed = (key: string) => /(^|[._-])(seed|secret|random_state)$/i.test(key);

/** Parameters whose values are files of other runs of the sweep: paths, or as the sweep file writes them. */
export function pathKeys(runs: readonly PlacedRun[]): string[] {
  const keys = [...new Set(runs.flatMap(({ parameters }) => Object.keys(parameters)))];
  return keys.filter((key) => runs.every((run) => isOfSweep(run, run.parameters[key])));
}

function isOfSweep({ directory }: PlacedRun, value: unknown): boolean {
  const places = [dirname(directory) + sep, '${sweep_dir}/'];
  return typeof value === 'string' && places.some((place) => value.startsWith(place));
}

/** Of several the one with the fewest different values: runs have data of their own more often than a model of their own. */
function baseKey(runs: readonly PlacedRun[]): string | null {
  const different = (key: string) => new Set(runs.map(({ parameters }) => parameters[key])).size;
  return pathKeys(runs).toSorted((a, b) => different(a) - different(b))[0] ?? null;
}

/** Whether runs of the same seeds all have the same value of a parameter. */
export function followsSeeds(runs: readonly PlacedRun[], key: string): boolean {
  const values = new Map<string, unknown>();
  return originsOf(runs).every(({ pair }, index) => {
    const value = runs[index]!.parameters[key];
    if (pair === null || (values.has(pair) && values.get(pair) !== value)) return false;
    values.set(pair, value);
    return true;
  });
}
