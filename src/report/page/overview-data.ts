import { seedBand, type SeedCurve } from '../../analysis/seed-band.js';
import { groupBy } from '../../base/group-by.js';
import { openMetrics } from '../../metrics/run-metrics.js';
import { modeFamilies, type ModeFamily } from './mode-families.js';

/** A run for the overview. `setting`: its parameters without the seed, as far as they vary in its group. */
export type OverviewRun = {
  readonly directory: string;
  readonly group: string;
  readonly setting: string;
  readonly isOver: boolean;
  readonly written: ReadonlySet<string>;
};

/** Summary of a condition's seeds at one place. `sd`: sample standard deviation, null for one seed. */
export type SeedPoint = {
  readonly x: number;
  readonly mean: number;
  readonly sd: number | null;
  readonly least: number;
  readonly most: number;
  readonly seeds: number;
};

/** A metric of one mode in one condition over the frames; null: no seed has come so far. */
export type ModeSeries = {
  readonly condition: string;
  readonly mode: string;
  readonly metric: string;
  readonly points: readonly (SeedPoint | null)[];
};

/** One family of metrics, with the steps of its frames. */
export type ModeOverview = ModeFamily & {
  readonly conditions: readonly string[];
  readonly steps: readonly number[];
  readonly series: readonly ModeSeries[];
};

/** Lines over the steps, one for each condition. */
export type LinePanel = {
  readonly title: string;
  readonly metric: string;
  readonly lines: readonly { readonly condition: string; readonly points: readonly SeedPoint[] }[];
};

/**
 * Modes side by side at each step, and rewards during training over the steps. `leftOut`: number of conditions beyond the limit.
 */
export type Overview = {
  readonly modes: readonly ModeOverview[];
  readonly panels: readonly LinePanel[];
  readonly leftOut: number;
};

const MOST_CONDITIONS = 12;
/** Limit on the families shown. */
const MOST_SHOWN = 3;
const MOST_FRAMES = 120;
/** Limit on the numbers of a family on the page: some 250 KB. */
const MOST_NUMBERS = 40_000;
const NUMBERS_OF_A_POINT = 5;
const PLACES = 80;

/** Reads the runs with such metrics once more; other runs are skipped. */
export function readOverview(all: readonly OverviewRun[]): Overview {
  const written = new Set(all.flatMap((run) => [...run.written]));
  const families = modeFamilies(written);
  const panelMetrics = panelsOf(written);
  const wanted = new Set([
    ...families.flatMap(({ prefix, modes, metrics }) =>
      modes.flatMap((mode) => metrics.map((metric) => `${prefix}/${mode}/${metric}`)),
    ),
    ...panelMetrics.map(({ metric }) => metric),
  ]);
  const concerned = all.filter((run) => [...wanted].some((key) => run.written.has(key)));
  const conditionOf = conditionsOf(concerned);
  const conditions = [...new Set(concerned.map(conditionOf))];
  const shown = conditions.slice(0, MOST_CONDITIONS);
  // One after another, as all of them together may not fit into memory.
  const curves = concerned
    .filter((run) => shown.includes(conditionOf(run)))
    .flatMap((run) => curvesOf(run, conditionOf(run), wanted));
  return {
    modes: families.flatMap((family) => modeOverview(family, shown, curves) ?? []).slice(0, MOST_SHOWN),
    panels: panelMetrics.flatMap((panel) => linePanel(panel, curves) ?? []),
    leftOut: conditions.length - shown.length,
  };
}

/** The name of a run's condition, which includes the group if there are several. */
function conditionsOf(runs: readonly OverviewRun[]): (run: OverviewRun) => string {
  const groups = new Set(runs.map(({ group }) => group));
  return ({ group, setting }) => {
    if (setting === '') return group;
    return groups.size > 1 ? `${group} ${setting}` : setting;
  };
}

type Curve = SeedCurve & { readonly key: string; readonly condition: string };

function curvesOf(
  { directory, isOver, written }: OverviewRun,
  condition: string,
  wanted: ReadonlySet<string>,
): Curve[] {
  const metrics = openMetrics(directory).readNow();
  return [...wanted]
    .filter((key) => written.has(key))
    .map((key) => {
      const { x, y } = metrics.series(key);
      const kept = Array.from(y.keys()).filter((at) => Number.isFinite(y[at]) && Number.isFinite(x[at]));
      return { key, condition, isOver, x: kept.map((at) => x[at]!), y: kept.map((at) => y[at]!) };
    })
    .filter(({ x }) => x.length > 0);
}

/** Null: there is only one step, so nothing would move. */
function modeOverview(family: ModeFamily, known: readonly string[], curves: readonly Curve[]): ModeOverview | null {
  const { prefix, modes, metrics } = family;
  const marks = modes.flatMap((mode) =>
    metrics.map((metric) => ({ mode, metric, key: `${prefix}/${mode}/${metric}` })),
  );
  const keys = new Set(marks.map(({ key }) => key));
  const own = curves.filter(({ key }) => keys.has(key));
  const conditions = known.filter((condition) => own.some((curve) => curve.condition === condition));
  const most = Math.floor(MOST_NUMBERS / (NUMBERS_OF_A_POINT * marks.length * Math.max(1, conditions.length)));
  const steps = framesOf(own, Math.max(2, Math.min(MOST_FRAMES, most)));
  if (steps.length < 2) return null;
  const grouped = groupBy(own, ({ key, condition }) => JSON.stringify([key, condition]));
  const series = conditions.flatMap((condition) =>
    marks.flatMap(({ mode, metric, key }) => {
      const ofMark = grouped.get(JSON.stringify([key, condition])) ?? [];
      if (ofMark.length === 0) return [];
      const found = new Map(seedPoints(ofMark, steps).map((point) => [point.x, point]));
      return [{ condition, mode, metric, points: steps.map((step) => found.get(step) ?? null) }];
    }),
  );
  return { ...family, conditions, steps, series };
}

/** Steps with measurements, an even selection if there are too many, always with the last one. */
function framesOf(curves: readonly Curve[], most: number): number[] {
  const steps = [...new Set(curves.flatMap(({ x }) => Array.from(x)))].sort((a, b) => a - b);
  if (steps.length <= most) return steps;
  return Array.from({ length: most }, (_, index) => steps[Math.round((index * (steps.length - 1)) / (most - 1))]!);
}

/** The panels of small-rl; empty if fewer than two of the three metrics were written. */
function panelsOf(written: ReadonlySet<string>): Pick<LinePanel, 'title' | 'metric'>[] {
  const hacks = [...written].filter((key) => /^hack_freq\/[^/]+$/.test(key));
  const panels = [
    { title: 'combined', metric: 'reward' },
    { title: 'retain', metric: 'rewards/retain/mean' },
    ...hacks.map((metric) => ({ title: metric.replace('/', ', '), metric })),
  ].filter(({ metric }) => written.has(metric));
  return panels.length < 2 ? [] : panels.slice(0, 4);
}

function linePanel({ title, metric }: Pick<LinePanel, 'title' | 'metric'>, curves: readonly Curve[]): LinePanel | null {
  const own = curves.filter(({ key }) => key === metric);
  // At places with measurements, as a mean between them would mix values of different steps.
  const places = framesOf(own, PLACES);
  if (places.length < 2) return null;
  const lines = [...groupBy(own, ({ condition }) => condition)].map(([condition, ofCondition]) => ({
    condition,
    points: seedPoints(ofCondition, places),
  }));
  return { title, metric, lines };
}

function seedPoints(curves: readonly SeedCurve[], places: readonly number[]): SeedPoint[] {
  const ranges = seedBand(curves, places, 'range');
  return seedBand(curves, places, 'std').map(({ x, middle, high, count }, index) => {
    const { low: least, high: most } = ranges[index]!;
    const isOne = count < 2;
    return {
      ...{ x, mean: middle, sd: isOne ? null : high - middle, seeds: count },
      ...{ least: isOne ? middle : least, most: isOne ? middle : most },
    };
  });
}
