import type { Series } from '../../state/port.js';
import { Memo } from '../../../base/memo.js';
import { type Scale, valueAt } from './axes/chart-scale.js';

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
