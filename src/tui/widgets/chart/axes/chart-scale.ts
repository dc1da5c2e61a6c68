/** One axis: the values at its two ends, and whether equal steps along it are equal factors. `low` < `high`. */
export type Scale = { readonly low: number; readonly high: number; readonly isLog: boolean };

/** Where a value lies: 0 at the low end, 1 at the high end, outside of them beyond. NaN where a logarithm has no value. */
export function fractionOf(scale: Scale, value: number): number {
  const from = coordinate(scale.isLog, scale.low);
  const range = coordinate(scale.isLog, scale.high) - from;
  return range > 0 ? (coordinate(scale.isLog, value) - from) / range : 0.5;
}

/** The value at a fraction of the axis; the inverse of `fractionOf`. */
export function valueAt(scale: Scale, fraction: number): number {
  const from = coordinate(scale.isLog, scale.low);
  const to = coordinate(scale.isLog, scale.high);
  const at = from + (to - from) * fraction;
  return scale.isLog ? 10 ** at : at * 2;
}

/** The part of an axis between two fractions of it. */
export function partOf(scale: Scale, { from, to }: { readonly from: number; readonly to: number }): Scale {
  return { ...scale, low: valueAt(scale, from), high: valueAt(scale, to) };
}

/** Farther out than any picture is large, and near enough to calculate with. */
const far = 1e9;

/**
 * Maps values to positions 0 … `last`, not rounded, upwards from the low end. What lies outside gets a position outside, a
 * finite one; NaN stays NaN. Made once for many values, and asked for each point that is drawn: not a function, because one
 * that was made by another is not compiled into the loop that calls it, which then takes ten times as long.
 */
export class Ruler {
  readonly #from: number;
  readonly #perUnit: number;
  readonly #isLog: boolean;
  readonly #middle: number;

  constructor(scale: Scale, last: number) {
    this.#from = coordinate(scale.isLog, scale.low);
    this.#perUnit = last / (coordinate(scale.isLog, scale.high) - this.#from);
    this.#isLog = scale.isLog;
    this.#middle = last / 2;
  }

  at(value: number): number {
    if (!Number.isFinite(this.#perUnit)) return this.#middle;
    const position = (coordinate(this.#isLog, value) - this.#from) * this.#perUnit;
    return position < -far ? -far : position > far ? far : position;
  }
}

/** Half of the value, so that a range from one end of the doubles to the other is still a number; or its logarithm. */
function coordinate(isLog: boolean, value: number): number {
  if (!isLog) return value / 2;
  return value > 0 ? Math.log10(value) : Number.NaN;
}
