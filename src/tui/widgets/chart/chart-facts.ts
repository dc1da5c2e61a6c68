import type { Series } from '../../state/port.js';
import { Memo } from '../../../base/memo.js';

/** What has to be known of a whole series before any part of it is drawn. `low` > `high`: nothing can be drawn. */
type SeriesFacts = {
  /** The range of x over the points whose y is a number. */
  readonly low: number;
  readonly high: number;
  /** The least x above zero: where a logarithmic axis begins. */
  readonly lowPositive: number;
  /** Points with x at or below zero, and with y at or below zero: a logarithm has no place for them. */
  readonly xNotPositive: number;
  readonly yNotPositive: number;
  /** Whether x never falls and is always a number. What does not rise has no order to join its points in. */
  readonly isRising: boolean;
};

/** Facts of a series, found once: a series does not change. A tight loop, as it sees every point. */
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
    // The difference is NaN for NaN and for both infinities, and 0 for all else.
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
