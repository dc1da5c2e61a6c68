import { quantile } from './statistics.js';

/** The least and the greatest finite value of a curve; `low` > `high`: it has none. */
export type Extent = { readonly low: number; readonly high: number };

/** A curve has exploded when its largest value is so many times that of the curve in the middle. */
const EXPLODED = 1e4;
/** Positive values that span such a factor are read on a logarithmic axis. */
const LOG_SPAN = 1e4;
/** A linear axis flattens values where the largest is so many times the median. */
const FLATTENED = 100;

/**
 * The range that an axis should show: that of all curves but those that exploded, so that a few of them do not flatten the others.
 * Where half of the curves exploded, or there is only one, it is the range of all. Null: there is no value.
 */
export function robustRange(curves: readonly Extent[]): Extent | null {
  const known = curves.filter(({ low, high }) => low <= high);
  if (known.length === 0) return null;
  const middle = quantile(
    known.map(sizeOf).sort((a, b) => a - b),
    0.5,
  );
  const calm = middle > 0 ? known.filter((curve) => sizeOf(curve) <= EXPLODED * middle) : known;
  return {
    low: calm.reduce((least, { low }) => Math.min(least, low), Infinity),
    high: calm.reduce((most, { high }) => Math.max(most, high), -Infinity),
  };
}

function sizeOf({ low, high }: Extent): number {
  return Math.max(Math.abs(low), Math.abs(high));
}

/**
 * Whether a few values are so large that the others look alike beside them: the largest exceeds the lower quartile of the nonzero
 * sizes by far.
 */
export function spansDecades(values: readonly number[]): boolean {
  const sizes = values.map(Math.abs).filter((size) => size > 0 && Number.isFinite(size));
  if (sizes.length === 0) return false;
  sizes.sort((a, b) => a - b);
  return sizes.at(-1)! >= EXPLODED * quantile(sizes, 0.25);
}

/**
 * Whether most values would lie at the lower end of a linear axis, as those of a loss that falls by decades do; a rate that rose
 * from nearly 0 to 1 does not count.
 *
 * @param middle Returns a value near the median; called only where it is needed.
 */
export function wantsLog({ low, high }: Extent, middle: () => number): boolean {
  return low > 0 && high / low >= LOG_SPAN && middle() <= high / FLATTENED;
}
