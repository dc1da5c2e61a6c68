import type { ChartChoice } from '../../state/chart-choice.js';
import type { Series } from '../../state/port.js';
import { factsOf } from './chart-facts.js';
import type { Curve } from './chart-look.js';
import type { Scale } from './chart-scale.js';
import { smooth } from './chart-smooth.js';
import { type Aggregate, aggregate } from './chart-spread.js';
import { thin } from './chart-thin.js';
import { type Centre, centreOf } from './chart-statistics.js';
import type { Tone } from '../span.js';

/** One line of a chart: a run, or the seeds of a setting as one. */
export type ChartSeries = {
  readonly label: string;
  readonly tone: Tone;
  /** The points to draw. */
  readonly line: Series;
  /** Whether its points have an order along x, to be joined in. */
  readonly isRising: boolean;
  /** All of it, where values are read off. */
  readonly whole: Series;
  /** What was smoothed, to be drawn faintly behind; null when nothing was, or where runs are drawn as one. */
  readonly raw: Series | null;
  /** null: one run. */
  readonly seeds: Seeds | null;
};

export type Seeds = Aggregate & {
  /** Of the last value of each run, wherever it ended. */
  readonly last: Centre;
  readonly runs: number;
};

/** Of the x axis shown, and the cells on it that seeds are brought together in. */
export type StrandRoom = { readonly x: Scale; readonly cells: number };

/** The lines to draw, those of one setting together if that was chosen, in the order of the curves. */
export function chartSeriesOf(curves: readonly Curve[], choice: ChartChoice, room: StrandRoom): ChartSeries[] {
  const { spread } = choice;
  if (spread === 'each') return curves.map((curve) => single(curve, choice, room));
  return settingsOf(curves).map((members): ChartSeries => {
    const [first] = members;
    if (first === undefined || members.length === 1) return single(first!, choice, room);
    const series = members.map((member) => smooth(member.series, choice.smoothing));
    const last = centreOf(series.map(lastValue).filter(Number.isFinite), spread);
    const seeds = { ...aggregate(series, room.x, room.cells, spread), last, runs: members.length };
    const label = first.label === '' ? '' : first.setting!;
    return { label, tone: first.tone, line: seeds.line, isRising: true, whole: seeds.line, raw: null, seeds };
  });
}

/** Curves of one setting together. One without points says nothing; one that goes back in x has no place on a grid. */
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

/** The last value that is a number; NaN when none is. */
export function lastValue({ y }: Series): number {
  return y[y.findLastIndex(Number.isFinite)] ?? Number.NaN;
}

function single({ label, tone, series }: Curve, choice: ChartChoice, { x }: StrandRoom): ChartSeries {
  const { isRising } = factsOf(series);
  const lens = { x, isLogY: choice.isLogY };
  const shown = (of: Series): Series => (isRising ? thin(of, lens) : of);
  const whole = smooth(series, choice.smoothing);
  const raw = whole === series ? null : shown(series);
  return { label, tone, line: shown(whole), isRising, whole, raw, seeds: null };
}
