/**
 * The first-order change of the entropy from one batch, without the bias of using a prompt's samples for both factors:
 * a U-statistic of order two (Hoeffding 1948), U = (1/(B(B−1))) Σ_{n≠m} X_n·Y_m. X_n is prompt n's estimate of E[(S −
 * S̄)∇S] = −∇H, Y_n its part of the policy gradient; then δH₁ = −ηU.
 *
 * In closed form U = (B/(B−1)) X̄·Ȳ − (1/(B(B−1))) Σ_n X_n·Y_n: only the sums of the vectors are needed, and each
 * prompt's own products.
 */
import { jackknifeError } from '../../analysis/statistics.js';
import type { Floats } from '../engine/engine.js';
import { dot } from './vectors.js';

type UStatistic = {
  readonly value: number;
  /** Values without prompt n, for each n. */
  readonly without: readonly number[];
  /** Standard error of the jackknife over prompts. */
  readonly standardError: number;
};

/** @param X_B, Y_B One vector a prompt; at least three prompts. */
export function uStatistic(X_B: readonly Floats[], Y_B: readonly Floats[]): UStatistic {
  const B = X_B.length;
  const [sumX, sumY] = [sumOf(X_B), sumOf(Y_B)];
  const own = X_B.map((X, n) => dot(X, Y_B[n]!));
  const ownSum = own.reduce((sum, value) => sum + value, 0);
  const value = (dot(sumX, sumY) - ownSum) / (B * (B - 1));
  const without = X_B.map((X, n) => {
    // r_n: the mean over m ≠ n of ½(X_n·Y_m + Y_n·X_m).
    const r = (dot(X, sumY) + dot(Y_B[n]!, sumX) - 2 * own[n]!) / (2 * (B - 1));
    return (B * value - 2 * r) / (B - 2);
  });
  return { value, without, standardError: jackknifeError(without) };
}

function sumOf(vectors: readonly Floats[]): Float64Array {
  const sum = new Float64Array(vectors[0]!.length);
  for (const vector of vectors) for (let at = 0; at < sum.length; at++) sum[at]! += vector[at]!;
  return sum;
}
