import { deviation as deviationOf } from '../../../analysis/statistics.js';
import type { Spread } from '../../state/chart-choice.js';

/** What stands for several values, and how far they lie apart; a band takes two values, NaN else. */
export type Centre = { readonly middle: number; readonly low: number; readonly high: number };

/**
 * The values of some seeds at one place, boiled down.
 *
 * `std`: mean ± standard deviation of a sample (n − 1). `band`: the mean with the interval that holds the true mean with
 * 95 % if the seeds are normal, mean ± t(n − 1) s / √n. `iqm`: the interquartile mean as Agarwal et al. 2021 take it (a
 * quarter of the values, rounded down, left out at each end) with the quartiles around it.
 *
 * @param values At least one; all finite.
 */
export function centreOf(values: readonly number[], spread: Exclude<Spread, 'each'>): Centre {
  const sorted = values.toSorted((a, b) => a - b);
  if (spread === 'iqm') return interquartile(sorted);
  const middle = mean(sorted);
  if (sorted.length < 2) return { middle, low: Number.NaN, high: Number.NaN };
  const deviation = deviationOf(sorted)!;
  const half = spread === 'std' ? deviation : (student95(sorted.length - 1) * deviation) / Math.sqrt(sorted.length);
  return { middle, low: middle - half, high: middle + half };
}

function interquartile(sorted: readonly number[]): Centre {
  const trimmed = Math.floor(sorted.length / 4);
  const middle = mean(sorted.slice(trimmed, sorted.length - trimmed));
  if (sorted.length < 2) return { middle, low: Number.NaN, high: Number.NaN };
  return { middle, low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Linear between the order statistics, the lowest at 0 and the highest at 1 (numpy's default). */
export function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)]!;
  return below + (sorted[Math.ceil(at)]! - below) * (at - Math.floor(at));
}

/** The 97.5 % quantiles of Student's t for 1, 2, … degrees of freedom. */
const studentTable = [
  12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.306, 2.2622, 2.2281, 2.201, 2.1788, 2.1604, 2.1448, 2.1314,
];
const normal = 1.959964;

/** How many standard errors a two-sided 95 % interval reaches to each side; beyond the table by Fisher's expansion. */
export function student95(degrees: number): number {
  const known = studentTable[degrees - 1];
  if (known !== undefined) return known;
  const first = (normal ** 3 + normal) / (4 * degrees);
  const second = (5 * normal ** 5 + 16 * normal ** 3 + 3 * normal) / (96 * degrees ** 2);
  const third = (3 * normal ** 7 + 19 * normal ** 5 + 17 * normal ** 3 - 15 * normal) / (384 * degrees ** 3);
  return normal + first + second + third;
}
