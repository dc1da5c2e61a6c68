import type { ReportedRun, ReportedState } from '../analysis/analysed-run.js';
import { namesRepetition } from '../analysis/forecast/durations.js';
import { deviation, mean } from '../analysis/statistics.js';
import { grouped } from '../base/group-by.js';
import { parameterOf } from '../base/scalar.js';

/** Last values of some metrics over the seeds of one cell, for runs that are no memory task. */
export type MetricRow = {
  group: string;
  varies: Record<string, unknown>;
  seeds: number;
  states: Partial<Record<ReportedState, number>>;
  /** By metric key. `n`: seeds that have the value. */
  metrics: Record<string, MetricSummary>;
};

export type MetricSummary = { mean: number | null; deviation: number | null; n: number };

/** @param lastValues The last value of every metric, run by run, in the order of the cell's runs. */
export function summariseMetrics(
  cell: Cell,
  lastValues: readonly Record<string, number | null>[],
  keys: readonly string[],
): MetricRow {
  const states: MetricRow['states'] = {};
  for (const { state } of cell.runs) states[state] = (states[state] ?? 0) + 1;
  const metrics = Object.fromEntries(keys.map((key) => [key, summaryOf(lastValues.map((last) => last[key] ?? null))]));
  return { group: cell.group, varies: cell.varies, seeds: cell.runs.length, states, metrics };
}

function summaryOf(values: readonly (number | null)[]): MetricSummary {
  const known = values.filter((value) => value !== null);
  return { mean: mean(known), deviation: deviation(known), n: known.length };
}

/** Runs of one group that differ in nothing but their seed. `varies`: the parameters that tell this cell from others. */
export type Cell = { group: string; varies: Record<string, unknown>; runs: ReportedRun[] };

/** The runs by group and by all parameters but seeds, in the order of the runs. */
export function cellsOf(runs: readonly ReportedRun[]): Cell[] {
  return grouped(runs, ({ group }) => group).flatMap((members) => {
    const keys = varyingKeys(members);
    const variesOf = (run: ReportedRun) =>
      Object.fromEntries(keys.map((key) => [key, parameterOf(run.parameters, key)]));
    return grouped(members, (run) => JSON.stringify(variesOf(run))).map((cell) => ({
      group: cell[0]!.group,
      varies: variesOf(cell[0]!),
      runs: cell,
    }));
  });
}

function varyingKeys(runs: readonly ReportedRun[]): string[] {
  const keys = [...new Set(runs.flatMap(({ parameters }) => Object.keys(parameters)))];
  return keys.filter((key) => !namesRepetition(key) && hasSeveralValues(runs, key));
}

function hasSeveralValues(runs: readonly ReportedRun[], key: string): boolean {
  return new Set(runs.map(({ parameters }) => JSON.stringify(parameterOf(parameters, key)))).size > 1;
}
