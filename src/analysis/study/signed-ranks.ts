import { ranksOf } from '../statistics.js';

/**
 * The exact two-sided signed-rank test of Wilcoxon (1945): the probability, where each difference has either sign with equal
 * chance, of a sum of positive ranks at least as far from its mean. Differences of 0 are left out (Wilcoxon's own rule); equal sizes
 * share their mean rank, and the distribution is that of exactly these ranks, so that no approximation is made for ties. Infinite
 * differences have the highest ranks.
 *
 * @param differences None is NaN. Work and memory grow with the cube of their number: 0.1 s for 300.
 * @returns p; 1 where all differences are 0.
 */
export function signedRankTest(differences: readonly number[]): number {
  const counted = differences.filter((difference) => difference !== 0);
  // Doubled, so that mean ranks are whole numbers.
  const ranks = ranksOf(counted.map(Math.abs)).map((rank) => 2 * (rank + 1));
  const total = ranks.reduce((sum, rank) => sum + rank, 0);
  const positive = ranks.reduce((sum, rank, index) => sum + (counted[index]! > 0 ? rank : 0), 0);
  const chances = signedSums(ranks, total);
  const least = Math.min(positive, total - positive);
  let tail = 0;
  for (let sum = 0; sum <= least; sum++) tail += chances[sum]!;
  return Math.min(1, 2 * tail);
}

/** The probability of each sum of a subset of the ranks, where each rank is in it with probability one half. */
function signedSums(ranks: readonly number[], total: number): Float64Array {
  const chances = new Float64Array(total + 1);
  chances[0] = 1;
  let reached = 0;
  for (const rank of ranks) {
    reached += rank;
    for (let sum = reached; sum >= 0; sum--) {
      chances[sum] = 0.5 * (chances[sum]! + (sum >= rank ? chances[sum - rank]! : 0));
    }
  }
  return chances;
}
