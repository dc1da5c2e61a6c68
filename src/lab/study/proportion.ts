import type { Interval } from '../../analysis/bootstrap.js';
import { NORMAL95 } from '../../analysis/seed-statistics.js';

/**
 * The 95 % interval of a share by Wilson's score, without continuity correction (Wilson 1927; Brown, Cai & DasGupta 2001).
 *
 * @param count Successes. @param of Runs, at least 1.
 */
export function wilson95(count: number, of: number): Interval {
  const share = count / of;
  const square = NORMAL95 ** 2;
  const middle = share + square / (2 * of);
  const half = NORMAL95 * Math.sqrt((share * (1 - share)) / of + square / (4 * of * of));
  const end = (value: number) => Math.min(1, Math.max(0, value / (1 + square / of)));
  // At 0 and 1 the formula gives the end up to rounding.
  return [count === 0 ? 0 : end(middle - half), count === of ? 1 : end(middle + half)];
}

/**
 * The exact two-sided sign test: the probability that so uneven a division, or a more uneven one, comes by chance where either
 * direction is equally likely. Of pairs with one success each it is McNemar's exact test.
 *
 * @param more, less Numbers of pairs in each direction; ties are left out. @returns p; 1 without pairs.
 */
export function signTest(more: number, less: number): number {
  const pairs = more + less;
  // Probabilities of the binomial distribution as logarithms, since 0.5^n underflows for more than a thousand pairs.
  let log = -pairs * Math.LN2;
  let tail = 0;
  for (let count = 0; count <= Math.min(more, less); count++) {
    tail += Math.exp(log);
    log += Math.log(pairs - count) - Math.log(count + 1);
  }
  return Math.min(1, 2 * tail);
}
