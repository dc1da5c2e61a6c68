import type { Cell } from './cells.js';
import type { ReportedState } from '../analysis/analysed-run.js';
import { deviation, mean } from '../analysis/statistics.js';

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
