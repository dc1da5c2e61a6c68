import { bestFirst } from '../../analysis/best-first.js';
import { goalByName, goalOf } from '../../analysis/metric-order.js';
import { isBroken } from '../../base/run-words.js';
import { anyParameterOf } from '../../base/scalar.js';
import type { RunSummary, SweepSummary } from '../../client/fleet.js';
import { requiredKey } from '../../query/check.js';
import { meantKeys } from '../../query/meant-key.js';
import { parameterOrder } from '../../tui/model/parameter-text.js';
import { valueOf } from './run-table.js';

/**
 * Runs by a metric, the best first where it is known which end is good, else the highest; or by a parameter, the lowest first. A
 * minus before the name turns it round. Runs that broke are worse than any other, and those without a value come last in either order.
 *
 * @throws {UserError} When no run has it, or several are meant.
 */
export function runsInOrder(
  runs: readonly RunSummary[],
  by: string,
  sweeps: ReadonlyMap<string, SweepSummary>,
): RunSummary[] {
  if (runs.length === 0) return [];
  const isTurned = by.startsWith('-') && meantKeys(by, runs).length === 0;
  const key = requiredKey(isTurned ? by.slice(1) : by, runs);
  const known = runs.filter((run) => valueOf(run, key) !== undefined);
  const isParameter = runs.some((run) => anyParameterOf(run, key) !== undefined);
  const sorted = isParameter
    ? known.sort((a, b) => parameterOrder(valueOf(a, key), valueOf(b, key)))
    : byMetric(known, key, sweeps);
  return [...(isTurned ? sorted.reverse() : sorted), ...runs.filter((run) => valueOf(run, key) === undefined)];
}

function byMetric(runs: readonly RunSummary[], key: string, sweeps: ReadonlyMap<string, SweepSummary>): RunSummary[] {
  const goals = new Set(runs.map(({ sweep }) => goalOf(key, sweeps.get(sweep)?.objective) ?? goalByName(key)));
  const ranked = runs.map((run) => {
    const value = run.metrics[key] ?? Number.NaN;
    return { value, isBroken: !Number.isFinite(value) || isBroken(run) };
  });
  return bestFirst(ranked, goals.size === 1 ? [...goals][0]! : null).map((index) => runs[index]!);
}
