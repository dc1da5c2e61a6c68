import { studentLimit } from '../base/special-functions.js';
import { deviation, mean, median, quantile } from './statistics.js';

/**
 * What stands for the seeds of one setting, in the list, in charts and in comparisons alike: a centre and how far the seeds lie
 * around it.
 *
 * `std`: mean ± sample standard deviation (n − 1). `band`: the mean with its 95 % confidence interval for normal seeds, mean ± t(n
 * − 1) s / √n. `range`: the mean between the lowest and the highest. `median`: between the quartiles. `iqm`: the interquartile mean
 * of Agarwal et al. 2021 (a quarter of the values, rounded down, left out at each end) between the quartiles.
 */
export const seedSummaries = ['std', 'band', 'range', 'median', 'iqm'] as const;
export type SeedSummary = (typeof seedSummaries)[number];

/** The centre of several values and the ends of their interval; `low` and `high` are NaN for fewer than two values. */
export type Centre = { readonly middle: number; readonly low: number; readonly high: number };

/** @param values All finite; if empty, every field is NaN. */
export function centreOf(values: readonly number[], summary: SeedSummary): Centre {
  if (values.length === 0) return nothing;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = middleOf(sorted, summary);
  return sorted.length < 2 ? { ...nothing, middle } : { middle, ...spreadOf(sorted, middle, summary) };
}

const nothing: Centre = { middle: Number.NaN, low: Number.NaN, high: Number.NaN };

function middleOf(sorted: readonly number[], summary: SeedSummary): number {
  if (summary === 'median') return median(sorted)!;
  return summary === 'iqm' ? interquartileMean(sorted) : mean(sorted)!;
}

/** The mean without a quarter of the values, rounded down, at each end. @param sorted Ascending; at least one. */
export function interquartileMean(sorted: readonly number[]): number {
  const trimmed = Math.floor(sorted.length / 4);
  return mean(trimmed === 0 ? sorted : sorted.slice(trimmed, sorted.length - trimmed))!;
}

function spreadOf(sorted: readonly number[], middle: number, summary: SeedSummary): Pick<Centre, 'low' | 'high'> {
  switch (summary) {
    case 'range':
      return { low: sorted[0]!, high: sorted.at(-1)! };
    case 'median':
    case 'iqm':
      return { low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) };
    default: {
      const n = sorted.length;
      const s = deviation(sorted)!;
      const half = summary === 'std' ? s : (student95(n - 1) * s) / Math.sqrt(n);
      return { low: middle - half, high: middle + half };
    }
  }
}

/** The results of some runs: the finite ones, and the numbers of the others, which no average may hide. */
export type Results = { readonly finite: readonly number[]; readonly nan: number; readonly infinite: number };

/** Divides values into those that can be averaged and those that are counted. */
export function resultsOf(values: readonly number[]): Results {
  const finite = values.filter(Number.isFinite);
  const nan = values.reduce((count, value) => count + Number(Number.isNaN(value)), 0);
  return { finite, nan, infinite: values.length - finite.length - nan };
}

/** `4 NaN`, `1 inf`, `4 NaN, 1 inf`; empty where all are finite. */
export function notFiniteText({ nan, infinite }: Pick<Results, 'nan' | 'infinite'>): string {
  return [nan > 0 ? `${nan} NaN` : '', infinite > 0 ? `${infinite} inf` : ''].filter((part) => part !== '').join(', ');
}

/** The 97.5 % quantile of the normal distribution. */
export const NORMAL95 = 1.959963984540054;

const knownLimits = new Map<number, number>();

/** How many standard errors a two-sided 95 % interval of a mean extends to each side. */
export function student95(degrees: number): number {
  const limit = knownLimits.get(degrees) ?? studentLimit(0.05, degrees);
  knownLimits.set(degrees, limit);
  return limit;
}
