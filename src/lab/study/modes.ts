/**
 * Rewards of runs in each mode of their adapters and in training, over the steps: means over the seeds of each setting.
 */
import { evenly, seedBand, type SeedCurve } from '../../analysis/seed-band.js';
import { groupBy } from '../../base/group-by.js';
import type { StudyBars, StudyFigure, StudyTable } from '../../contract/study.js';
import { shortNumber } from '../../text/numbers.js';
import type { Curve, RunRows } from './run-rows.js';
import { columnsOf, endsOf, figure, points, tableOf, type Written } from './study-parts.js';

/** Measures of each mode, and of each reward, as small-rl names them: `routing_eval/retain_only/unique`, `rewards/happy/mean`. */
const families = [
  { prefix: 'routing_eval', each: 'mode' },
  { prefix: 'rewards', each: 'reward' },
] as const;
type Family = (typeof families)[number];
const measured = /^(routing_eval|rewards)\/([^/]+)\/([^/]+)$/;
/** Training rewards: all of them, those of role retain, and the share of hacks. */
const paid = [
  { title: 'combined', metric: /^reward$/ },
  { title: 'retain', metric: /^rewards\/retain\/mean$/ },
  { title: 'hacks', metric: /^hack_freq\/[^/]+$/ },
];

const MOST_CONDITIONS = 12;
const MOST_MEASURES = 12;
const MOST_PAID = 4;
/** Maximum number of steps in a figure of modes or rewards. */
const MOST_EVALUATIONS = 120;
const MOST_PLACES = 80;
/** Maximum number of bars, over all steps and figures. */
const MOST_BARS = 8000;

/** A run with its curves by metric. `setting` is empty when its group has only one. */
export type MeasuredRun = {
  readonly group: string;
  readonly setting: string;
  readonly isOver: boolean;
  readonly curves: Readonly<Record<string, Curve>>;
};

/** Curves of a run for these figures, thinned to as many points as can be seen. */
export function measuredCurves(rows: RunRows): MeasuredRun['curves'] {
  const shown = [...rows.keys].filter((key) => measured.test(key) || paid.some(({ metric }) => metric.test(key)));
  const entries = shown.map((key): [string, Curve] => {
    const { x, y } = rows.series(key);
    const finite = [...x.keys()].filter((at) => Number.isFinite(x[at]) && Number.isFinite(y[at]));
    const kept = evenly(finite, measured.test(key) ? MOST_EVALUATIONS : MOST_PLACES);
    return [key, { x: kept.map((at) => x[at]!), y: kept.map((at) => y[at]!) }];
  });
  return Object.fromEntries(entries.filter(([, { x }]) => x.length > 0));
}

type Figures = {
  readonly figures: readonly StudyFigure[];
  readonly tables: readonly StudyTable[];
  readonly notes: readonly string[];
};

/**
 * Figures of each mode and each reward over the steps, and of the training rewards; none when no run logs any of them.
 */
export function modeFigures(runs: readonly MeasuredRun[]): Figures {
  const saying = runs.filter(({ curves }) => Object.keys(curves).some((key) => key !== 'reward'));
  const conditions = [...groupBy(saying, conditionIn(saying))];
  const shown = conditions.slice(0, MOST_CONDITIONS);
  const left = conditions.length - shown.length;
  const found = families.flatMap((family) => partsOf(family, shown) ?? []);
  const figures = [...paidFigures(shown), ...found.flatMap((each) => each.names.map((name) => barFigure(each, name)))];
  return {
    figures,
    tables: found.filter(({ family }) => family.each === 'mode').map(lastTable),
    notes: left > 0 && figures.length > 0 ? [`Over the steps, ${left} more settings are left out.`] : [],
  };
}

/** Distinguishing name of a condition: its setting, with the group if there are several. */
function conditionIn(runs: readonly MeasuredRun[]): (run: MeasuredRun) => string {
  const groups = new Set(runs.map(({ group }) => group));
  return ({ group, setting }) => (setting === '' ? group : groups.size > 1 ? `${group} ${setting}` : setting);
}

type Conditions = readonly (readonly [condition: string, runs: readonly MeasuredRun[]])[];

function keysOf(conditions: Conditions): string[] {
  return [...new Set(conditions.flatMap(([, runs]) => runs.flatMap(({ curves }) => Object.keys(curves))))];
}

/** A mean over seeds at one step, with ±1 standard deviation where there are two seeds, and the range. */
type SeedPoint = Readonly<Record<'x' | 'y' | 'min' | 'max' | 'n', number>> & {
  readonly lo?: number;
  readonly hi?: number;
};

function seedPoints(runs: readonly MeasuredRun[], key: string, steps: readonly number[]): SeedPoint[] {
  const curves = runs.flatMap(({ curves: { [key]: curve }, isOver }): SeedCurve[] =>
    curve === undefined ? [] : [{ ...curve, isOver }],
  );
  const ranges = seedBand(curves, steps, 'range');
  return seedBand(curves, steps, 'std').map(({ x, middle: y, low, high, count: n }, index) => {
    const { low: min, high: max } = ranges[index]!;
    return n < 2 ? { x, y, min: y, max: y, n } : { x, y, lo: low, hi: high, min, max, n };
  });
}

function stepsOf(conditions: Conditions, keys: readonly string[], most: number): number[] {
  const written = conditions.flatMap(([, runs]) =>
    runs.flatMap(({ curves }) => keys.flatMap((key) => curves[key]?.x ?? [])),
  );
  return evenly(
    [...new Set(written)].sort((a, b) => a - b),
    most,
  );
}

/** Measures that several members of a family have, at the steps shown. `parts`: modes, or rewards. */
type FamilyMeasures = {
  readonly family: Family;
  readonly conditions: Conditions;
  readonly parts: readonly string[];
  readonly names: readonly string[];
  readonly steps: readonly number[];
};

/** Null without steps, or with one step alone, where nothing would move. */
function partsOf(family: Family, conditions: Conditions): FamilyMeasures | null {
  const measures = keysOf(conditions).flatMap((key) => {
    const [, prefix, part, name] = measured.exec(key) ?? [];
    return prefix === family.prefix ? [{ key, part: part!, name: name! }] : [];
  });
  const shared = [...groupBy(measures, ({ name }) => name)].filter(([, all]) => all.length > 1).slice(0, MOST_MEASURES);
  const [names, all] = [shared.map(([name]) => name), shared.flatMap(([, ofName]) => ofName)];
  const parts = [...new Set(all.map(({ part }) => part))];
  const keys = all.map(({ key }) => key);
  const own = conditions.filter(([, runs]) => runs.some(({ curves }) => keys.some((key) => key in curves)));
  const most = Math.floor(MOST_BARS / (keys.length * own.length || 1));
  const steps = stepsOf(own, keys, Math.max(2, Math.min(MOST_EVALUATIONS, most)));
  return steps.length < 2 ? null : { family, conditions: own, parts, names, steps };
}

function barFigure({ family: { prefix, each }, conditions, parts, steps }: FamilyMeasures, name: string): StudyFigure {
  const bars = parts.map((part): StudyBars => {
    const all = conditions.flatMap(([condition, runs]) =>
      seedPoints(runs, `${prefix}/${part}/${name}`, steps).map((point) => ({ condition, ...point })),
    );
    return {
      ...{ name: part, x: all.map(({ condition }) => condition), y: all.map(({ y }) => y) },
      ...{ ...endsOf(all, ['lo', 'hi', 'min', 'max']), n: all.map(({ n }) => n), at: all.map(({ x }) => x) },
    };
  });
  const note =
    'Bars: the mean over the seeds; thick lines ±1 standard deviation, thin lines from the least to the most. On paper: the last step.';
  const axes = [{ title: 'setting' }, { title: 'mean over the seeds' }] as const;
  return {
    ...figure(name, note, axes, []),
    bars: bars.filter(({ x }) => x.length > 0),
    set: `Each ${each} over the steps`,
  };
}

/** The table of all bars at the last step. */
function lastTable({ family: { prefix, each }, conditions, parts, names, steps }: FamilyMeasures): StudyTable {
  const last = steps.slice(-1);
  const rows = conditions.flatMap(([condition, runs]) =>
    parts.flatMap((part) => {
      const found = new Map(names.map((name) => [name, seedPoints(runs, `${prefix}/${part}/${name}`, last)[0]]));
      const seeds = Math.max(0, ...[...found.values()].map((point) => point?.n ?? 0));
      return seeds === 0 ? [] : [{ condition, part, found, seeds }];
    }),
  );
  const column = columnsOf(rows);
  return tableOf(
    `Each ${each} at step ${last[0]!}`,
    [
      column('left')('setting', ({ condition }) => condition),
      column('left')(each, ({ part }) => part),
      column('right')('seeds', ({ seeds }) => ({ value: seeds, text: String(seeds) })),
      ...names.map((name, at) => column('right')(name, ({ found }) => meanText(found.get(name)), at + 1)),
    ],
    ['Mean ± standard deviation over the seeds; runs that have ended count with their last evaluation.'],
  );
}

function meanText(point: SeedPoint | undefined): Written {
  if (point === undefined) return { value: null, text: '–' };
  const { y: value, hi } = point;
  return { value, text: `${shortNumber(value)}${hi === undefined ? '' : ` ± ${shortNumber(hi - value, 2)}`}` };
}

/** Lines of the training rewards; none when fewer than two kinds were logged. */
function paidFigures(conditions: Conditions): StudyFigure[] {
  const keys = keysOf(conditions);
  const panels = paid.flatMap(({ title, metric }) =>
    keys
      .filter((key) => metric.test(key))
      .map((key) => ({ title: key.startsWith('hack_freq/') ? key.replace('/', ', ') : title, key })),
  );
  const note =
    'Lines: the mean over the seeds; inner bands ±1 standard deviation, outer bands from the least to the most.';
  const figures = panels.slice(0, MOST_PAID).flatMap(({ title, key }) => {
    const steps = stepsOf(conditions, [key], MOST_PLACES);
    if (steps.length < 2) return [];
    const series = conditions.flatMap(([condition, runs]) => {
      const all = seedPoints(runs, key, steps);
      return all.length === 0 ? [] : [points(condition, all, (point) => point, 'line')];
    });
    const set = 'Rewards of the training over the steps';
    return [{ ...figure(title, note, [{ title: 'step' }, { title: key }], series), set }];
  });
  return panels.length < 2 ? [] : figures;
}
