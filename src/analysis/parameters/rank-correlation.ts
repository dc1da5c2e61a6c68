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
