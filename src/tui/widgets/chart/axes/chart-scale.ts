/** One axis: the values at its ends, and whether it is logarithmic. `low` < `high`. */
export type Scale = { readonly low: number; readonly high: number; readonly isLog: boolean };

/**
 * Position of a value: 0 at the low end, 1 at the high end, beyond these outside. NaN if a logarithmic axis has no position for it.
 */
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

/** The part of an axis between two fractions. */
export function partOf(scale: Scale, { from, to }: { readonly from: number; readonly to: number }): Scale {
  return { ...scale, low: valueAt(scale, from), high: valueAt(scale, to) };
}

/** Limit of positions, farther out than the size of any picture. */
const far = 1e9;

/**
 * Maps values to unrounded positions from 0 to `last`, starting at the low end. Values outside get a finite position outside; NaN
 * stays NaN. A class rather than a closure, because a closure is not inlined into the calling loop, which then takes ten times as
 * long.
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

/** The logarithm, or half of the value, so that the range between the largest doubles is still finite. */
function coordinate(isLog: boolean, value: number): number {
  if (!isLog) return value / 2;
  return value > 0 ? Math.log10(value) : Number.NaN;
}
