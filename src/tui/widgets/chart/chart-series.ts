import { type Centre, centreOf, type Results, resultsOf, type SeedSummary } from '../../../analysis/seed-statistics.js';
import type { ChartChoice } from '../../state/chart-choice.js';
import type { Series } from '../../state/port.js';
import { factsOf, fractionOf, type Scale, valueAt } from './chart-axis.js';
import type { Curve } from '../../model/chart-data.js';
import { countBehind } from '../../model/tally.js';
import type { Tone } from '../../surface/span.js';
import { Memo } from '../../../base/memo.js';

/** One line of a chart: a run, or the seeds of a setting combined. */
export type ChartSeries = {
  readonly label: string;
  readonly tone: Tone;
  readonly setting?: string | undefined;
  readonly together?: readonly number[] | undefined;
  /** The points to draw. */
  readonly line: Series;
  /** Whether x is increasing, so that points are joined. */
  readonly isRising: boolean;
  /** The complete series, from which values are read off. */
  readonly whole: Series;
  /** The series before smoothing, drawn faintly behind; null: not smoothed, or several runs are drawn as one. */
  readonly raw: Series | null;
  /** The last value of a single run as it is shown everywhere; absent: that of the series. */
  readonly last?: number | undefined;
  /** null: a single run. */
  readonly seeds: Seeds | null;
};

export type Seeds = Aggregate & {
  /** Summary of last values: of each run wherever it ended, or only of runs that reach the end if ended runs are left out. */
  readonly last: Centre;
  /** Number of runs in `last` with a finite value and without. */
  readonly results: Results;
  /** Number of runs that are drawn as one. */
  readonly runs: number;
  /** The same with those that broke, which are left out if others did not. */
  readonly of: number;
  /** Number of runs that are not as far as the others. */
  readonly behind: number;
  /** Whether some run ended before the others. */
  readonly hasEndedEarly: boolean;
};

/** The visible x axis, and the number of cells for combining seeds. */
type SeriesRoom = { readonly x: Scale; readonly cells: number };

/** The lines to draw in the order of the curves; those of one setting are combined if that was chosen. */
export function chartSeriesOf(curves: readonly Curve[], choice: ChartChoice, room: SeriesRoom): ChartSeries[] {
  const { spread } = choice;
  if (spread === 'each') return curves.map((curve) => single(curve, choice, room));
  return settingsOf(curves).map((members): ChartSeries => {
    const [first] = members;
    if (first === undefined || members.length === 1) return single(first!, choice, room);
    const seeds = seedsOf(members, spread, choice, room);
    const label = first.label === '' ? '' : (first.family ?? first.setting!);
    const { tone, setting, together } = first;
    return { label, tone, setting, together, line: seeds.line, isRising: true, whole: seeds.line, raw: null, seeds };
  });
}

function seedsOf(all: readonly Curve[], summary: SeedSummary, choice: ChartChoice, room: SeriesRoom): Seeds {
  const sound = all.filter(({ isBroken }) => isBroken !== true);
  const curves = sound.length === 0 ? all : sound;
  const members = curves.map(({ series: raw, isOver, last }) => {
    const series = smooth(raw, choice.smoothing);
    return { series, last: last ?? lastValue(raw, series), isOver: isOver === true };
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
    ...{ runs: members.length, of: all.length },
    behind: countBehind(curves.flatMap(({ place }) => place ?? [])),
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

function single(
  { label, tone, setting, together, series, last }: Curve,
  choice: ChartChoice,
  { x }: SeriesRoom,
): ChartSeries {
  const { isRising } = factsOf(series);
  const lens = { x, isLogY: choice.isLogY === true };
  const shown = (of: Series): Series => (isRising ? thin(of, lens) : of);
  const whole = smooth(series, choice.smoothing);
  const raw = whole === series ? null : shown(series);
  return { label, tone, setting, together, line: shown(whole), isRising, whole, raw, last, seeds: null };
}

/**
 * The exponential mean of a series with TensorBoard's correction of the bias towards zero at the start: sₙ = Σᵢ wⁿ⁻ⁱ (1 − w) vᵢ /
 * (1 − wⁿ) over the finite values; n counts these rather than steps. The mean is missing where a value is missing, and continues
 * after the gap. Cached per series for one weight.
 *
 * @param weight Weight of previous values, from 0 (the series itself) to below 1.
 */
export function smooth(series: Series, weight: number): Series {
  if (weight <= 0) return series;
  return smoothed.value(series, String(weight), () => ({ x: series.x, y: exponentialMean(series.y, weight) }));
}

const smoothed = new Memo<Series, Series>(1);

function exponentialMean(values: Float64Array, weight: number): Float64Array {
  const means = new Float64Array(values.length);
  let sum = 0;
  // 1 − wⁿ, the sum of the weights so far.
  let known = 0;
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    if (value - value !== 0) {
      means[index] = Number.NaN;
      continue;
    }
    sum = sum * weight + value * (1 - weight);
    known = known * weight + (1 - weight);
    means[index] = sum / known;
  }
  return means;
}

/** One of the runs that are drawn as one. `isCarried`: its final value continues to count after it has ended. */
export type Member = { readonly series: Series; readonly isCarried: boolean };

/** Some runs drawn as one: a line with a band around it, on a common grid. */
type Aggregate = {
  readonly line: Series;
  /** NaN where there are fewer than two runs. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Number of runs with a value of their own in each cell; runs may begin and end at different x. */
  readonly counts: Uint16Array;
  /** Number of ended runs that contribute their final value. */
  readonly carried: Uint16Array;
};

/**
 * Combines the seeds of one setting into a line and a band. Each run counts within its own range, and beyond its end only if it is
 * carried and while another run has values of its own. A run whose final value is not finite is not carried.
 *
 * @param members Their x must be increasing.
 */
export function aggregate(members: readonly Member[], x: Scale, cells: number, summary: SeedSummary): Aggregate {
  const grids = members.map(({ series }) => onGrid(series, x, cells));
  const ends = members.map(endOf);
  const line = { x: gridOf(x, cells), y: new Float64Array(cells) };
  const [low, high] = [new Float64Array(cells), new Float64Array(cells)];
  const [counts, carried] = [new Uint16Array(cells), new Uint16Array(cells)];
  for (let cell = 0; cell < cells; cell++) {
    const values = grids.map((grid) => grid[cell]!).filter(Number.isFinite);
    counts[cell] = values.length;
    if (values.length > 0 && values.length < members.length) {
      const at = line.x[cell]!;
      for (const [index, end] of ends.entries()) {
        if (end !== null && at > end.x && Number.isNaN(grids[index]![cell])) values.push(end.y);
      }
      carried[cell] = values.length - counts[cell]!;
    }
    const centre = centreOf(values, summary);
    line.y[cell] = centre.middle;
    low[cell] = centre.low;
    high[cell] = centre.high;
  }
  return { line, low, high, counts, carried };
}

/** The final point of a carried run; null: it is not carried or has no finite final value. */
function endOf({ series: { x, y }, isCarried }: Member): { x: number; y: number } | null {
  const last = y.length - 1;
  return isCarried && last >= 0 && Number.isFinite(y[last]) ? { x: x[last]!, y: y[last]! } : null;
}

/**
 * Resamples a run to a grid of equal cells of the x axis, for combining it with other runs.
 *
 * A cell with points gets their mean. A cell between two points gets the value of the straight line at its middle. Cells outside
 * the run's own range and in gaps are NaN: nothing is extrapolated.
 *
 * @param series Its x must be increasing.
 */
function onGrid(series: Series, x: Scale, cells: number): Float64Array {
  return grids.value(series, `${x.low} ${x.high} ${x.isLog} ${cells}`, () => gridded(series, x, cells));
}

/** The x at the middle of each cell. */
function gridOf(x: Scale, cells: number): Float64Array {
  return Float64Array.from({ length: cells }, (_, cell) => valueAt(x, (cell + 0.5) / cells));
}

const grids = new Memo<Series, Float64Array>(2);

function gridded(series: Series, x: Scale, cells: number): Float64Array {
  const values = new Float64Array(cells);
  let from = lowerBound(series.x, x.low, 0);
  for (let cell = 0; cell < cells; cell++) {
    const end = endOfCell(series.x, x, (cell + 1) / cells, from);
    values[cell] = end > from ? meanOf(series.y, from, end) : between(series, x, from, (cell + 0.5) / cells);
    from = end;
  }
  return values;
}

/** The end of a cell in the series. The upper end of the axis belongs to the last cell. */
function endOfCell(x: Float64Array, scale: Scale, fraction: number, from: number): number {
  if (fraction < 1) return lowerBound(x, valueAt(scale, fraction), from);
  let end = lowerBound(x, scale.high, from);
  while (end < x.length && x[end]! <= scale.high) end++;
  return end;
}

function meanOf(y: Float64Array, from: number, end: number): number {
  let [sum, count] = [0, 0];
  for (let index = from; index < end; index++) {
    const value = y[index]!;
    if (value - value !== 0) continue;
    sum += value;
    count++;
  }
  return sum / count;
}

/** Interpolates between point `next` and the one before it, along the straight line on this axis. */
function between({ x, y }: Series, scale: Scale, next: number, fraction: number): number {
  if (next === 0 || next >= x.length) return Number.NaN;
  const from = fractionOf(scale, x[next - 1]!);
  const to = fractionOf(scale, x[next]!);
  // A point that a logarithmic axis leaves out cannot be interpolated from.
  if (!(to > from)) return Number.NaN;
  return y[next - 1]! + ((y[next]! - y[next - 1]!) * (fraction - from)) / (to - from);
}

/** The visible part of a series: a range of x, and whether only positive values can be drawn. */
export type Lens = { readonly x: Scale; readonly isLogY: boolean };

/** Number of stretches in the visible range, more than the columns of dots in any chart, so that one thinning suits every width. */
const stretches = 1024;

/**
 * Reduces a series to points that give the same picture within the range of the lens: the lowest and highest of each stretch in
 * their order, and one point beyond each end, so that the curve reaches the edge. A stretch of gaps keeps one gap. Returns the
 * series itself or a view of it if it is short enough. Cached per series and lens.
 *
 * @param series Its x must be increasing.
 */
export function thin(series: Series, lens: Lens): Series {
  return thinned.value(series, lensKey(lens), () => pick(series, lens));
}

/** Lenses with the same key show the same. */
function lensKey({ x, isLogY }: Lens): string {
  return `${x.low} ${x.high} ${x.isLog} ${isLogY}`;
}

/** Caches the whole series and some parts of it during zooming. */
const thinned = new Memo<Series, Series>(4);

function pick(series: Series, lens: Lens): Series {
  const { x, y } = series;
  const from = Math.max(0, lowerBound(x, lens.x.low, 0) - 1);
  const end = Math.min(x.length, firstAfter(x, lens.x.high, from) + 1);
  if (end - from <= 2 * stretches) return { x: x.subarray(from, end), y: y.subarray(from, end) };
  const picked = pickExtremes(series, lens, from, end);
  const kept = { x: new Float64Array(picked.length), y: new Float64Array(picked.length) };
  // `Float64Array.from` with a function takes ten times as long.
  for (let at = 0; at < picked.length; at++) {
    kept.x[at] = x[picked[at]!]!;
    kept.y[at] = y[picked[at]!]!;
  }
  return kept;
}

/** Indexes of the points to keep, including the first and last, which may be outside the range. */
function pickExtremes({ x, y }: Series, lens: Lens, first: number, last: number): Uint32Array {
  const picked = new Uint32Array(2 * stretches + 4);
  const least = lens.isLogY ? Number.MIN_VALUE : -Number.MAX_VALUE;
  let count = 0;
  picked[count++] = first;
  for (let stretch = 1, from = first + 1; stretch <= stretches && from < last - 1; stretch++) {
    const bound = stretch === stretches ? Infinity : valueAt(lens.x, stretch / stretches);
    const end = Math.min(last - 1, lowerBound(x, bound, from));
    if (end === from) continue;
    const [low, high] = extremes(y, from, end, least);
    picked[count++] = Math.min(low, high);
    if (low !== high) picked[count++] = Math.max(low, high);
    from = end;
  }
  picked[count++] = last - 1;
  return picked.subarray(0, count);
}

/** Indexes of the lowest and highest finite value of at least `least` in `[from, end)`; both are `from` if there is none. */
function extremes(y: Float64Array, from: number, end: number, least: number): [low: number, high: number] {
  let [low, high] = [Infinity, -Infinity];
  let [lowAt, highAt] = [from, from];
  for (let index = from; index < end; index++) {
    const value = y[index]!;
    if (!(value >= least) || value === Infinity) continue;
    if (value < low) {
      low = value;
      lowAt = index;
    }
    if (value > high) {
      high = value;
      highAt = index;
    }
  }
  return [lowAt, highAt];
}

/**
 * The first index from `from` on with an x of at least `bound`; the length if there is none. Searches near `from` first: stretches
 * of a long series are adjacent, and far jumps through memory cost more than comparing values.
 */
export function lowerBound(x: Float64Array, bound: number, from: number): number {
  let low = from;
  let reach = 16;
  while (from + reach < x.length && x[from + reach]! < bound) {
    low = from + reach + 1;
    reach *= 2;
  }
  let high = Math.min(x.length, from + reach);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (x[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first index from `from` on with an x above `bound`. */
export function firstAfter(x: Float64Array, bound: number, from: number): number {
  let [low, high] = [from, x.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (x[middle]! <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
