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
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return withoutRounding(Math.sqrt(squares / (values.length - 1)), centre);
}

/**
 * A deviation, or 0 where it is no more than what the arithmetic of doubles leaves of equal values: 0.1 + 0.2 and 0.3
 * are one result, not two that lie 5.6e-17 apart.
 */
export function withoutRounding(spread: number, centre: number): number {
  return spread <= 16 * Number.EPSILON * Math.abs(centre) ? 0 : spread;
}

/** Linear between the order statistics, the lowest at 0 and the highest at 1 (numpy's default). `sorted`: at least one. */
export function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)]!;
  return below + (sorted[Math.ceil(at)]! - below) * (at - Math.floor(at));
}
