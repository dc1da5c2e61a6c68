import type { Series } from '../../state/port.js';
import { Memo } from '../../../base/memo.js';

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
