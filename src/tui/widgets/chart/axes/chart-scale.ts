import { Memo } from '../../../../base/memo.js';
import type { Series } from '../../../state/port.js';

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

/** Facts about a whole series, needed before any part is drawn. `low` > `high`: nothing can be drawn. */
type SeriesFacts = {
  /** The range of x over the points with a finite y. */
  readonly low: number;
  readonly high: number;
  /** The smallest positive x, where a logarithmic axis begins. */
  readonly lowPositive: number;
  /** Number of points with x at or below zero, and with y at or below zero, which a logarithmic axis leaves out. */
  readonly xNotPositive: number;
  readonly yNotPositive: number;
  /** Whether x is always finite and never decreases. Otherwise points are not joined. */
  readonly isRising: boolean;
};

/** Facts of a series, computed once, since a series does not change. A tight loop, because it visits every point. */
export function factsOf(series: Series): SeriesFacts {
  return facts.value(series, '', () => readFacts(series));
}

const facts = new Memo<Series, SeriesFacts>(1);

function readFacts({ x, y }: Series): SeriesFacts {
  let [low, high, lowPositive] = [Infinity, -Infinity, Infinity];
  let [xNotPositive, yNotPositive] = [0, 0];
  for (let index = 0; index < y.length; index++) {
    const across = x[index]!;
    const up = y[index]!;
    // The difference is NaN for NaN and both infinities, and 0 otherwise.
    if (up - up !== 0 || across - across !== 0) continue;
    if (across < low) low = across;
    if (across > high) high = across;
    if (across <= 0) xNotPositive++;
    else if (across < lowPositive) lowPositive = across;
    if (up <= 0) yNotPositive++;
  }
  return { low, high, lowPositive, xNotPositive, yNotPositive, isRising: isRising(x) };
}

function isRising(x: Float64Array): boolean {
  let before = -Infinity;
  for (let index = 0; index < x.length; index++) {
    const across = x[index]!;
    if (!(across >= before) || across === Infinity) return false;
    before = across;
  }
  return true;
}
