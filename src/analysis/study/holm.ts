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
