import type { ReportedRun, ReportedState } from '../analysis/analysed-run.js';
import { namesRepetition } from '../analysis/forecast/durations.js';
import { bootstrap95 } from '../analysis/bootstrap.js';
import { centreOf, interquartileMean, resultsOf } from '../analysis/seed-statistics.js';
import { deviation, mean, median, quantile } from '../analysis/statistics.js';
import type { Origin } from '../analysis/study/metric-intervals.js';
import { grouped } from '../base/group-by.js';
import type { Ailment } from '../base/run-words.js';
import { parameterOf } from '../base/scalar.js';
import { followsSeeds, originsOf, pathKeys } from './run-origins.js';

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
  results: readonly (Origin & { readonly values: Readonly<Record<string, number | null>> })[];
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

/** Runs of one group that differ in nothing but their seed. `varies`: the parameters that distinguish this cell from others. */
export type Cell = Pick<MetricRow, 'group' | 'title' | 'varies'> & { runs: ReportedRun[] };

/** Groups the runs by group and all parameters but seeds, in the order of the runs. */
export function cellsOf(runs: readonly ReportedRun[]): Cell[] {
  return grouped(runs, ({ group }) => group).flatMap((members) => {
    const keys = varyingKeys(members);
    const variesOf = (run: ReportedRun) =>
      Object.fromEntries(keys.map((key) => [key, parameterOf(run.parameters, key)]));
    const cells = grouped(members, (run) => JSON.stringify(variesOf(run)));
    const titles = titlesOf(cells);
    return cells.map((cell, index) => ({
      group: cell[0]!.group,
      title: titles[index]!,
      varies: variesOf(cell[0]!),
      runs: cell,
    }));
  });
}

/** The cells' subgroups if each cell has one of its own: otherwise a name would be that of several cells, or of a part of one. */
function titlesOf(cells: readonly (readonly ReportedRun[])[]): (string | null)[] {
  const said = cells.map((cell) => new Set(cell.map(({ subgroup = null }) => subgroup)));
  const names = said.map((all) => (all.size === 1 ? [...all][0]! : null));
  const isTold = !names.includes(null) && new Set(names).size === names.length;
  return isTold ? names : names.map(() => null);
}

function varyingKeys(runs: readonly ReportedRun[]): string[] {
  const keys = [...new Set(runs.flatMap(({ parameters }) => Object.keys(parameters)))];
  // A model of its own for each seed is a part of the repetition, too.
  const origins = pathKeys(runs).filter((key) => followsSeeds(runs, key));
  return keys.filter((key) => !namesRepetition(key) && !origins.includes(key) && hasSeveralValues(runs, key));
}

function hasSeveralValues(runs: readonly ReportedRun[], key: string): boolean {
  return new Set(runs.map(({ parameters }) => JSON.stringify(parameterOf(parameters, key)))).size > 1;
}
