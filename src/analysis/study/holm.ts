/** Probabilities of several tests, adjusted so that one of them is below .05 by chance in at most 5 % of cases (Holm 1979). */
export function holm(probabilities: readonly number[]): number[] {
  const order = probabilities.map((_, index) => index).sort((a, b) => probabilities[a]! - probabilities[b]!);
  const adjusted = probabilities.slice();
  let least = 0;
  for (const [rank, index] of order.entries()) {
    least = Math.min(1, Math.max(least, probabilities[index]! * (order.length - rank)));
    adjusted[index] = least;
  }
  return adjusted;
}
