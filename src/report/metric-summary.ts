import type { ReportedState } from '../analysis/analysed-run.js';
import { bootstrap95 } from '../analysis/bootstrap.js';
import { type Cell, originsOf } from '../analysis/cells.js';
import { centreOf, interquartileMean, resultsOf } from '../analysis/seed-statistics.js';
import { deviation, mean, median, quantile } from '../analysis/statistics.js';
import type { Measured } from '../analysis/study/metric-intervals.js';
import type { Ailment } from '../base/run-words.js';

/** The values of some metrics over the seeds of one cell, for runs that are no memory task. */
export type MetricRow = {
  group: string;
  /** The subgroup of this cell; null: its runs have none, or different ones. */
  title: string | null;
  varies: Record<string, unknown>;
  seeds: number;
  states: Partial<Record<ReportedState, number>>;
  /** Numbers of ended runs with a problem that their state does not show. */
  marks: Partial<Record<Ailment, number>>;
  /** Summaries by metric key. */
  metrics: Record<string, MetricSummary>;
  /** What the summaries are of: each run's value of every metric; null: it has none. */
  results: Measured;
};

/** Lower and upper end. */
type Interval = readonly [number, number];

/**
 * One metric over the seeds with a finite value, `n` of them; other values are counted in `nan` and `infinite`. Null for no values,
 * and for statistics that need two values if there is one. `ci95`: interval of the mean, by Student's t. `bootstrap95` and `iqm95`:
 * intervals of the mean and of the interquartile mean, by the percentile bootstrap.
 */
export type MetricSummary = {
  mean: number | null;
  deviation: number | null;
  n: number;
  nan: number;
  infinite: number;
  ci95: Interval | null;
  bootstrap95: Interval | null;
  range: Interval | null;
  median: number | null;
  quartiles: Interval | null;
  iqm: number | null;
  iqm95: Interval | null;
};

/** @param values For each run, its value of every metric it has, in the order of the cell's runs. */
export function summariseMetrics(
  cell: Cell,
  values: readonly Readonly<Record<string, number | null>>[],
  keys: readonly string[],
): Omit<MetricRow, 'marks'> {
  const states: MetricRow['states'] = {};
  for (const { state } of cell.runs) states[state] = (states[state] ?? 0) + 1;
  const metrics = Object.fromEntries(keys.map((key) => [key, summaryOf(values.map((ofRun) => ofRun[key] ?? null))]));
  const { group, title, varies } = cell;
  const results = originsOf(cell.runs).map((origin, run) => {
    return { ...origin, values: Object.fromEntries(keys.map((key) => [key, values[run]![key] ?? null])) };
  });
  return { group, title, varies, seeds: cell.runs.length, states, metrics, results };
}

function summaryOf(values: readonly (number | null)[]): MetricSummary {
  const { finite, nan, infinite } = resultsOf(values.filter((value) => value !== null));
  const sorted = finite.toSorted((a, b) => a - b);
  const several = <Value>(value: () => Value): Value | null => (sorted.length < 2 ? null : value());
  const { low, high } = centreOf(finite, 'band');
  return {
    mean: mean(finite),
    deviation: deviation(finite),
    ...{ n: finite.length, nan, infinite },
    ci95: several(() => [low, high]),
    bootstrap95: several(() => bootstrap95(finite, (drawn) => mean(drawn)!)),
    range: several(() => [sorted[0]!, sorted.at(-1)!]),
    median: median(finite),
    quartiles: several(() => [quantile(sorted, 0.25), quantile(sorted, 0.75)]),
    iqm: sorted.length === 0 ? null : interquartileMean(sorted),
    iqm95: several(() => bootstrap95(finite, interquartileMean)),
  };
}
