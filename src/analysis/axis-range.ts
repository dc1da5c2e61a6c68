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
 * What an axis should show of some curves, so that a few that exploded do not flatten all others: the range of the others. Where
 * half of them exploded, or there is one alone, it is the range of all. Null: there is no value.
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

/** Whether some values are so large that next to them the others are all alike: of those that are not zero, beside the lower quarter. */
export function spansDecades(values: readonly number[]): boolean {
  const sizes = values.map(Math.abs).filter((size) => size > 0 && Number.isFinite(size));
  if (sizes.length === 0) return false;
  sizes.sort((a, b) => a - b);
  return sizes.at(-1)! >= EXPLODED * quantile(sizes, 0.25);
}

/**
 * Whether values are spread so far that on a linear axis most of them would lie at its lower end: a loss that falls by decades, and
 * not a rate that rose to 1 from next to nothing.
 *
 * @param middle About their median; asked for where it matters.
 */
export function wantsLog({ low, high }: Extent, middle: () => number): boolean {
  return low > 0 && high / low >= LOG_SPAN && middle() <= high / FLATTENED;
}
