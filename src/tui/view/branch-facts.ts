import { parameterOf } from '../../base/scalar.js';
import type { RunId } from '../port.js';
import type { Branch } from './branch-index.js';
import { meanTrend } from './mean-trend.js';
import { parameterText } from './parameter-text.js';
import { tally, type Tally } from './tally.js';

/**
 * What a row of a group shows beyond its tally. A branch is never changed, so each is computed once, and only for the
 * groups that are on the screen.
 */
export const trendOf = remembered((branch) => meanTrend(branch.runs));

/** Mean and deviation of another metric than the chosen one. */
export const spreadOf = remembered((branch, metric): Tally['metric'] => tally(branch.runs, metric).metric);

/** The value of a parameter that all runs have; null when they differ. */
export const commonValueOf = remembered((branch, parameter): string | null => {
  const first = parameterText(parameterOf(branch.runs[0]?.parameters ?? {}, parameter));
  return branch.runs.every(({ parameters }) => parameterText(parameterOf(parameters, parameter)) === first)
    ? first
    : null;
});

/** GPU memory in MiB that the runs hold together; null: none. */
export const gpuMemoryOf = remembered((branch): number | null => {
  const known = branch.runs.flatMap(({ gpuMemory }) => (gpuMemory === null ? [] : [gpuMemory]));
  return known.length === 0 ? null : known.reduce((sum, size) => sum + size);
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
