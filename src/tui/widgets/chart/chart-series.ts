import { type Centre, centreOf, type Results, resultsOf, type SeedSummary } from '../../../analysis/seed-statistics.js';
import type { ChartChoice } from '../../state/chart-choice.js';
import type { Series } from '../../state/port.js';
import { factsOf } from './chart-facts.js';
import type { Curve } from './chart-look.js';
import type { Scale } from './axes/chart-scale.js';
import { smooth } from './chart-smooth.js';
import { type Aggregate, aggregate } from './chart-spread.js';
import { thin } from './chart-thin.js';
import type { Tone } from '../../surface/span.js';

/** One line of a chart: a run, or the seeds of a setting combined. */
export type ChartSeries = {
  readonly label: string;
  readonly tone: Tone;
  /** The points to draw. */
  readonly line: Series;
  /** Whether x is increasing, so that points are joined. */
  readonly isRising: boolean;
  /** The complete series, from which values are read off. */
  readonly whole: Series;
  /** The series before smoothing, drawn faintly behind; null: not smoothed, or several runs are drawn as one. */
  readonly raw: Series | null;
  /** null: a single run. */
  readonly seeds: Seeds | null;
};

export type Seeds = Aggregate & {
  /** Summary of last values: of each run wherever it ended, or only of runs that reach the end if ended runs are left out. */
  readonly last: Centre;
  /** Number of runs in `last` with a finite value and without. */
  readonly results: Results;
  readonly runs: number;
  /** Whether some run ended before the others. */
  readonly hasEndedEarly: boolean;
};

/** The visible x axis, and the number of cells for combining seeds. */
type StrandRoom = { readonly x: Scale; readonly cells: number };

/** The lines to draw in the order of the curves; those of one setting are combined if that was chosen. */
export function chartSeriesOf(curves: readonly Curve[], choice: ChartChoice, room: StrandRoom): ChartSeries[] {
  const { spread } = choice;
  if (spread === 'each') return curves.map((curve) => single(curve, choice, room));
  return settingsOf(curves).map((members): ChartSeries => {
    const [first] = members;
    if (first === undefined || members.length === 1) return single(first!, choice, room);
    const seeds = seedsOf(members, spread, choice, room);
    const label = first.label === '' ? '' : first.setting!;
    return { label, tone: first.tone, line: seeds.line, isRising: true, whole: seeds.line, raw: null, seeds };
  });
}

function seedsOf(curves: readonly Curve[], summary: SeedSummary, choice: ChartChoice, room: StrandRoom): Seeds {
  const members = curves.map(({ series: raw, isOver }) => {
    const series = smooth(raw, choice.smoothing);
    return { series, last: lastValue(raw, series), isOver: isOver === true };
  });
  const furthest = Math.max(...members.map(({ series }) => endX(series)));
  const isEarly = ({ series, isOver }: (typeof members)[number]): boolean => isOver && endX(series) < furthest;
  const counted = choice.carriesEnded ? members : members.filter((member) => !isEarly(member));
  const results = resultsOf(counted.map(({ last }) => last));
  const carried = members.map(({ series, isOver }) => ({ series, isCarried: isOver && choice.carriesEnded }));
  return {
    ...aggregate(carried, room.x, room.cells, summary),
    last: centreOf(results.finite, summary),
    results,
    runs: members.length,
    hasEndedEarly: members.some(isEarly),
  };
}

/** Splits the line of some seeds into the stretch where all have a value and the rest; null: there is no rest. The two join. */
export function stretchesOf({ line, counts, runs }: Seeds): { whole: Series; part: Series | null } {
  if (!counts.some((count) => count > 0 && count < runs)) return { whole: line, part: null };
  const { x, y } = line;
  const isPart = (cell: number): boolean => counts[cell]! < runs;
  const whole = y.map((value, cell) => (isPart(cell) ? Number.NaN : value));
  // One more cell at either end, so that there is no gap between the two.
  const part = y.map((value, cell) => (isPart(cell) || isPart(cell - 1) || isPart(cell + 1) ? value : Number.NaN));
  return { whole: { x, y: whole }, part: { x, y: part } };
}

function endX({ x }: Series): number {
  return x.at(-1) ?? -Infinity;
}

/**
 * Curves grouped by setting. Curves without points are left out; those whose x decreases cannot be put on a grid and stay alone.
 */
function settingsOf(curves: readonly Curve[]): Curve[][] {
  const settings = new Map<unknown, Curve[]>();
  for (const curve of curves) {
    const { isRising, low, high } = factsOf(curve.series);
    if (low > high) continue;
    const name = isRising && curve.setting !== undefined ? `${curve.setting}\n${curve.tone === 'faint'}` : curve;
    settings.set(name, [...(settings.get(name) ?? []), curve]);
  }
  return [...settings.values()];
}

/** The last value written, finite or not, or its smoothed value; NaN if there is none. */
export function lastValue({ y }: Series, smoothed: Series): number {
  const last = y.at(-1) ?? Number.NaN;
  return Number.isFinite(last) ? (smoothed.y.at(-1) ?? last) : last;
}

function single({ label, tone, series }: Curve, choice: ChartChoice, { x }: StrandRoom): ChartSeries {
  const { isRising } = factsOf(series);
  const lens = { x, isLogY: choice.isLogY === true };
  const shown = (of: Series): Series => (isRising ? thin(of, lens) : of);
  const whole = smooth(series, choice.smoothing);
  const raw = whole === series ? null : shown(series);
  return { label, tone, line: shown(whole), isRising, whole, raw, seeds: null };
}
