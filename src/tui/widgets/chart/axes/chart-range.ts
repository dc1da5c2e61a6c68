import { median } from '../../../../analysis/statistics.js';
import { robustRange, wantsLog } from '../../../../analysis/axis-range.js';
import type { ChartChoice } from '../../../state/chart-choice.js';
import type { Series } from '../../../state/port.js';
import { factsOf, fractionOf, partOf, Ruler, type Scale, valueAt } from './chart-scale.js';
import type { Curve, Reference } from '../../../model/curves/chart-data.js';
import { type ChartSeries, firstAfter, lowerBound } from '../chart-series.js';

type Range = { low: number; high: number };

/** The x axis over all points of the curves, or the zoomed part of it; null if there are no points. */
export function xScaleOf(curves: readonly Curve[], { isLogX, zoom }: ChartChoice): Scale | null {
  const facts = curves.map(({ series }) => factsOf(series));
  const low = Math.min(...facts.map((fact) => (isLogX ? fact.lowPositive : fact.low)));
  const high = Math.max(...facts.map((fact) => fact.high));
  if (!(low <= high)) return null;
  const whole = { ...apart({ low, high }, isLogX), isLog: isLogX };
  return zoom === null ? whole : partOf(whole, zoom);
}

/** `beyond`: number of lines with values outside the axis; `farthest`: the farthest of these, possibly infinite. */
export type YAxis = { readonly scale: Scale; readonly beyond: number; readonly farthest: number };

/**
 * The y axis for the visible part of the series, with some margin; null if nothing is visible.
 *
 * A few lines that diverged are left out of its range, unless a logarithmic axis was chosen. With outliers excluded, it reaches
 * from the 1st to the 99th percentile and a tenth beyond, but never beyond the values.
 */
export function yAxisOf(
  allSeries: readonly ChartSeries[],
  x: Scale,
  choice: ChartChoice,
  references: readonly Reference[],
): YAxis | null {
  const least = choice.isLogY === true ? Number.MIN_VALUE : -Number.MAX_VALUE;
  const seen = allSeries.map((series) => valuesOf(series, x, least));
  const whole = new Values(least);
  for (const { low, high } of seen) if (low <= high) [low, high].forEach((value) => whole.takeOne(value));
  if (whole.low > whole.high) return null;
  const scale = scaleOf(allSeries, { x, seen, whole }, choice, references);
  return { scale, ...outsideOf(allSeries, x, scale) };
}

/** A limit is in the range where it is at most so many times the highest value. */
const NEAR_LIMIT = 10;

type Seen = { readonly x: Scale; readonly seen: readonly Range[]; readonly whole: Values };

function scaleOf(
  allSeries: readonly ChartSeries[],
  { x, seen, whole }: Seen,
  choice: ChartChoice,
  references: readonly Reference[],
): Scale {
  const { isLogY } = choice;
  if (choice.isClipped) return padded(withoutOutliers(allSeries, x, whole), isLogY === true);
  const range = new Values(whole.least);
  const { low, high } = isLogY === true ? whole : robustRange(seen)!;
  [low, high].forEach((value) => range.takeOne(value));
  const isLog = isLogY ?? wantsLog(range, () => middleOf(allSeries, x));
  references
    .filter(({ isPerX, value }) => !isPerX && (value > 0 || !isLog))
    .filter(({ isLimit, value }) => isLimit !== true || value <= NEAR_LIMIT * high)
    .forEach(({ value }) => range.takeOne(value));
  return padded(range, isLog);
}

/** Approximate median of the visible values. */
function middleOf(allSeries: readonly ChartSeries[], x: Scale): number {
  const seen = allSeries.flatMap(({ line, isRising }) => sampled(line, x, isRising));
  return median(seen.filter(Number.isFinite)) ?? 0;
}

function valuesOf({ line, seeds }: ChartSeries, x: Scale, least: number): Values {
  const values = new Values(least);
  values.take(line, x);
  if (seeds === null) return values;
  values.take({ x: line.x, y: seeds.high }, x);
  // The lower edge of a band can be arbitrarily close to zero, which would flatten everything else on a logarithmic axis.
  if (least < 0) values.take({ x: line.x, y: seeds.low }, x);
  return values;
}

/** Number of lines that leave the axis, and how far. */
function outsideOf(allSeries: readonly ChartSeries[], x: Scale, y: Scale): Pick<YAxis, 'beyond' | 'farthest'> {
  const ruler = new Ruler(y, 1);
  const ends = allSeries.flatMap(({ line }) => farthestOutside(line, x, ruler) ?? []);
  const farthest = ends.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
  return { beyond: ends.length, farthest };
}

/** The farthest value outside the axis; null: there is none. Rounding may put ends slightly beside the axis. */
function farthestOutside(line: Series, x: Scale, y: Ruler): number | null {
  let farthest: number | null = null;
  for (let index = 0; index < line.y.length; index++) {
    const at = line.x[index]!;
    const fraction = y.at(line.y[index]!);
    if (!(fraction < -SLACK || fraction > 1 + SLACK) || at < x.low || at > x.high) continue;
    if (farthest === null || Math.abs(line.y[index]!) > Math.abs(farthest)) farthest = line.y[index]!;
  }
  return farthest;
}

const SLACK = 1e-6;

/** Range of the visible values. */
class Values {
  low = Infinity;
  high = -Infinity;
  readonly least: number;

  constructor(least: number) {
    this.least = least;
  }

  take({ x, y }: Series, { low, high }: Scale): void {
    for (let index = 0; index < y.length; index++) if (x[index]! >= low && x[index]! <= high) this.takeOne(y[index]!);
  }

  takeOne(value: number): void {
    if (!(value >= this.least) || value === Infinity) return;
    if (value < this.low) this.low = value;
    if (value > this.high) this.high = value;
  }
}

/** Number of values examined per series, enough for its percentiles. */
const sample = 500;
/** Minimum number of values for detecting outliers. */
const fewest = 8;

function withoutOutliers(allSeries: readonly ChartSeries[], x: Scale, whole: Values): Range {
  const seen = allSeries.flatMap(({ whole: series, isRising }) => sampled(series, x, isRising));
  const sorted = Float64Array.from(seen.filter((value) => value >= whole.least && Number.isFinite(value))).sort();
  if (sorted.length < fewest) return whole;
  const cut = Math.ceil(sorted.length / 100);
  const [low, high] = [sorted[cut]!, sorted[sorted.length - 1 - cut]!];
  if (!(low < high)) return whole;
  const margin = (high - low) / 10;
  return { low: Math.max(whole.low, low - margin), high: Math.min(whole.high, high + margin) };
}

/** At most `sample` of the values in the range, at even distances. */
function sampled({ x, y }: Series, { low, high }: Scale, isRising: boolean): number[] {
  const from = isRising ? lowerBound(x, low, 0) : 0;
  const end = isRising ? firstAfter(x, high, from) : x.length;
  const count = Math.min(sample, end - from);
  return Array.from({ length: count }, (_, index) => y[from + Math.floor((index * (end - from)) / count)]!);
}

/** Adds a margin above and below; a range that begins near zero begins at zero. */
function padded({ low, high }: Range, isLog: boolean): Scale {
  const range = apart({ low, high }, isLog);
  const air = 0.04;
  const scale = { ...range, isLog };
  const isFromZero = !isLog && low >= 0 && low < (high - low) * 0.2;
  const bottom = isFromZero ? 0 : valueAt(scale, -air);
  const top = valueAt(scale, 1 + air);
  // At the limits of doubles there is no room for a margin.
  return {
    low: Number.isFinite(bottom) && (!isLog || bottom > 0) ? bottom : range.low,
    high: Number.isFinite(top) ? top : range.high,
    isLog,
  };
}

/** Makes the ends differ: a single value is put in the middle. */
function apart({ low, high }: Range, isLog: boolean): Range {
  // A range too small for the arithmetic of an axis is treated as a single value.
  if (low < high && fractionOf({ low, high, isLog }, high) === 1) return { low, high };
  if (isLog) return { low: low / 2, high: high * 2 };
  const half = (Math.abs(low) || 1) * 0.5;
  return { low: low - half, high: high + half };
}
