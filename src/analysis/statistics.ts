/** The middle value, or the mean of the two in the middle; infinities count. Null of nothing. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Null of nothing. Finite of finite values, also where their sum is not. */
export function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sum = values.reduce((total, value) => total + value, 0);
  if (Number.isFinite(sum)) return sum / values.length;
  return values.reduce((total, value) => total + value / values.length, 0);
}

/** Standard deviation of a sample (n − 1). Null of fewer than two values. */
export function deviation(values: readonly number[]): number | null {
  const centre = mean(values);
  if (centre === null || values.length < 2) return null;
  if (values.every((value) => value === values[0])) return 0;
  const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1));
  return withoutNoise(spread, centre);
}

/**
 * A spread, or 0 where it is no more than what rounding makes of equal values: the mean of three times 0.1 is not 0.1, and
 * they seem to differ by 1.4e-17.
 */
export function withoutNoise(spread: number, mean: number): number {
  return spread <= NOISE * Math.abs(mean) ? 0 : spread;
}

/** Relative to a mean: some units in the last place of a double. */
const NOISE = 16 * Number.EPSILON;

/** Linear between the order statistics, the lowest at 0 and the highest at 1 (numpy's default). `sorted`: at least one. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)]!;
  return below + (sorted[Math.ceil(at)]! - below) * (at - Math.floor(at));
}
