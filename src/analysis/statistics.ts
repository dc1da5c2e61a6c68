/** The median; infinities count. Null for no values. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The mean; null for no values. Finite for finite values, even where their sum overflows. */
export function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sum = values.reduce((total, value) => total + value, 0);
  if (Number.isFinite(sum)) return sum / values.length;
  return values.reduce((total, value) => total + value / values.length, 0);
}

/** Sample standard deviation (n − 1). Null for fewer than two values. */
export function deviation(values: readonly number[]): number | null {
  const centre = mean(values);
  if (centre === null || values.length < 2) return null;
  if (values.every((value) => value === values[0])) return 0;
  const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1));
  return withoutNoise(spread, centre);
}

/**
 * A spread, or 0 where it is only the rounding error of equal values: the mean of three times 0.1 is not 0.1, so that they seem to
 * differ by 1.4e-17.
 */
export function withoutNoise(spread: number, mean: number): number {
  return spread <= NOISE * Math.abs(mean) ? 0 : spread;
}

/** Relative to a mean: a few units in the last place of a double. */
const NOISE = 16 * Number.EPSILON;

/** The quantile, interpolated linearly between the order statistics (numpy's default). `sorted`: at least one value; it may be infinite. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)]!;
  const above = sorted[Math.ceil(at)]!;
  const weight = at - Math.floor(at);
  // Between infinities, and where the weight is 0, the formula is not a number.
  return weight === 0 || below === above ? below : below + (above - below) * weight;
}

/** Standard error by the jackknife (Arvesen 1969) of a statistic of several independent samples. @param without For each sample the values of the statistic without one of its members. */
export function jackknifeError(...without: readonly (readonly number[])[]): number {
  const variances = without.map((values) => {
    const centre = mean(values)!;
    return ((values.length - 1) / values.length) * values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  });
  return Math.sqrt(variances.reduce((sum, variance) => sum + variance, 0));
}

/** The rank of each value among all, from 0 for the lowest; equal values share the mean of their ranks. */
export function ranksOf(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((a, b) => values[a]! - values[b]!);
  const ranks = new Array<number>(values.length).fill(0);
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && values[order[to]!] === values[order[from]!]) to++;
    for (let at = from; at < to; at++) ranks[order[at]!] = (from + to - 1) / 2;
  }
  return ranks;
}

/**
 * Spearman's rank correlation: Pearson's r of the ranks, −1 to 1, whatever the scale of either. Null for fewer than three pairs, or
 * where one of the two is constant.
 *
 * @param x As many values as `y`, none of them NaN.
 */
export function rankCorrelation(x: readonly number[], y: readonly number[]): number | null {
  if (x.length < 3) return null;
  const [a, b] = [ranksOf(x), ranksOf(y)];
  const middle = (x.length - 1) / 2;
  const product = (one: readonly number[], other: readonly number[]) =>
    one.reduce((sum, rank, index) => sum + (rank - middle) * (other[index]! - middle), 0);
  const size = product(a, a) * product(b, b);
  return size > 0 ? Math.max(-1, Math.min(1, product(a, b) / Math.sqrt(size))) : null;
}

/** Probabilities of several tests, adjusted so that one of them is below .05 by chance in at most 5 % of cases (Holm 1979). Null: there was no test. */
export function holm<P extends number | null>(probabilities: readonly P[]): P[] {
  const order = probabilities
    .flatMap((p, index) => (p === null ? [] : [{ p, index }]))
    .sort((one, other) => one.p - other.p);
  const adjusted: (number | null)[] = probabilities.slice();
  let least = 0;
  for (const [rank, { p, index }] of order.entries()) {
    least = Math.min(1, Math.max(least, p * (order.length - rank)));
    adjusted[index] = least;
  }
  return adjusted as P[];
}
