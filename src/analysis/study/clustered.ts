import { groupBy } from '../../base/group-by.js';
import { betaQuantile } from '../../base/special-functions.js';
import type { Clustered, Interval } from '../bootstrap.js';
import { student95 } from '../seed-statistics.js';
import { mean, median } from '../statistics.js';

type Cell = readonly Clustered<number>[];

/**
 * The 95 % interval of a median: all values that Student's t test over the clusters does not exclude, as surveys have it for quantiles
 * (Francisco & Fuller 1991; `interval.type="score"` of R's svyquantile). Excluded is a value where the clusters have too many or too few
 * of their values below it for the spread between them, with as many degrees of freedom as there are clusters less one. Values of a
 * single cluster are taken as independent.
 *
 * Infinite values count, and the interval of a logarithm is the logarithm of the interval. It ends at the least and the greatest value
 * at the latest; that is why with fewer than five clusters it holds the median less often than in 95 % of cases.
 *
 * @returns Null: there are no values.
 */
export function medianInterval(cell: Cell): Interval | null {
  if (cell.length === 0) return null;
  const clusters = independent(cell);
  // Of each cluster, how many of its values are below, less half of them.
  const excess = clusters.map(({ length }) => -length / 2);
  const sorted = clusters
    .flatMap((values, cluster) => values.map((value) => ({ cluster, value })))
    .sort((a, b) => (a.value === b.value ? 0 : a.value - b.value));
  const kept: number[] = [];
  for (const [index, { cluster, value }] of sorted.entries()) {
    excess[cluster]! += 1;
    const next = sorted[index + 1]?.value ?? value;
    const isLastOfTies = next !== value || index === sorted.length - 1;
    if (isLastOfTies && Math.abs(sumOf(excess)) <= margin(excess)) kept.push(value, next);
  }
  // Where many values are equal to the median, there is none beside it to be tested.
  const middle = median(cell.map(({ value }) => value))!;
  return kept.length === 0 ? [middle, middle] : [kept[0]!, kept.at(-1)!];
}

/**
 * The 95 % interval of a mean by Student's t over the clusters (Liang & Zeger 1986, with k / (k − 1) and k − 1 degrees of freedom for k
 * clusters). The values of a single cluster are taken as independent.
 *
 * @returns Null: fewer than two values.
 */
export function meanInterval(cell: Cell): Interval | null {
  if (cell.length < 2) return null;
  const middle = mean(cell.map(({ value }) => value))!;
  const half = margin(independent(cell).map((values) => sumOf(values.map((value) => value - middle)))) / cell.length;
  return [middle - half, middle + half];
}

/** The share of the variance that lies between clusters, and its 95 % interval. */
export type Intraclass = { readonly share: number; readonly interval: Interval };

/**
 * The intraclass correlation by one-way analysis of variance (Shrout & Fleiss 1979, ICC(1)), with Searle's interval, which is exact
 * for normal values and clusters of one size. Below 0 it is 0.
 *
 * @returns Null: fewer than two clusters, no cluster with two values, or values that do not differ within clusters.
 */
export function intraclass(cell: Cell): Intraclass | null {
  const clusters = clustersOf(cell);
  const [k, n] = [clusters.length, cell.length];
  if (k < 2 || n === k) return null;
  const middle = mean(cell.map(({ value }) => value))!;
  const means = clusters.map((values) => mean(values)!);
  const between = sumOf(clusters.map(({ length }, index) => length * (means[index]! - middle) ** 2)) / (k - 1);
  const within = sumOf(clusters.flatMap((values, index) => values.map((value) => (value - means[index]!) ** 2))) / (n - k); // prettier-ignore
  if (within === 0) return null;
  const size = (n - sumOf(clusters.map(({ length }) => length ** 2)) / n) / (k - 1);
  const share = (ratio: number) => Math.max(0, (ratio - 1) / (ratio + size - 1));
  const ratio = between / within;
  const end = (u: number) => share(ratio / fisherQuantile(u, k - 1, n - k));
  return { share: share(ratio), interval: [end(0.975), end(0.025)] };
}

/** How far the sum over clusters may lie from its expectation, at 95 %. */
function margin(sums: readonly number[]): number {
  const centre = mean(sums)!;
  const squares = sumOf(sums.map((each) => (each - centre) ** 2));
  return sums.length < 2 ? 0 : student95(sums.length - 1) * Math.sqrt((squares * sums.length) / (sums.length - 1));
}

function independent(cell: Cell): number[][] {
  const clusters = clustersOf(cell);
  return clusters.length > 1 ? clusters : cell.map(({ value }) => [value]);
}

function clustersOf(cell: Cell): number[][] {
  return [...groupBy(cell, ({ cluster }) => cluster).values()].map((members) => members.map(({ value }) => value));
}

/** The quantile of the F distribution. */
function fisherQuantile(u: number, above: number, below: number): number {
  const x = betaQuantile(u, above / 2, below / 2);
  return (below * x) / (above * (1 - x));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
