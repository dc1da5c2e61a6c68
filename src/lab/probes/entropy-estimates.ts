/**
 * The entropy of a policy from sequences that it drew, per token (Σ_i h_i / Σ_i T_i) or per sequence (mean of h_i), in
 * nats.
 *
 * `simple` takes h_i = −Σ_k log π(t_k), from the tokens that were drawn. `raoBlackwell` takes h_i = Σ_k H_k, with H_k
 * the entropy of the distribution that token k was drawn from: the same mean, without the variance of the draws (Rao
 * 1945, Blackwell 1947).
 */
import type { Floats } from '../engine/engine.js';

export const units = ['token', 'sequence'] as const;
/** Unit of an entropy. */
export type Unit = (typeof units)[number];

/**
 * A sequence that the policy drew: log-probability of each token, and entropy of the distribution it was drawn from;
 * nats.
 */
export type ScoredSequence = { readonly logprobs: Floats; readonly entropies: Floats };

/** `standardError`: of the estimate, over sequences; NaN for fewer than two. */
export type Estimate = { readonly value: number; readonly standardError: number };

type EntropyEstimates = { readonly simple: Estimate; readonly raoBlackwell: Estimate };

/** @param sequences Drawn independently; at least one. */
export function entropyEstimates(sequences: readonly ScoredSequence[], per: Unit = 'token'): EntropyEstimates {
  const sizes = sequences.map(({ logprobs }) => (per === 'token' ? logprobs.length : 1));
  return {
    simple: ratio(
      sequences.map(({ logprobs }) => -total(logprobs)),
      sizes,
    ),
    raoBlackwell: ratio(
      sequences.map(({ entropies }) => total(entropies)),
      sizes,
    ),
  };
}

/** Σ values / Σ sizes, with the error of a ratio of sums (delta method). One entry a sequence. */
function ratio(values: readonly number[], sizes: readonly number[]): Estimate {
  const size = total(sizes);
  const value = total(values) / size;
  const residuals = values.map((each, index) => each - value * sizes[index]!);
  return { value, standardError: errorOfSum(residuals) / size };
}

/** Standard error of a sum of independent terms, from their spread: √n times their standard deviation. */
export function errorOfSum(terms: readonly number[]): number {
  const mean = total(terms) / terms.length;
  const squares = terms.reduce((sum, term) => sum + (term - mean) ** 2, 0);
  return Math.sqrt((terms.length / (terms.length - 1)) * squares);
}

export function total(values: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at]!;
  return sum;
}
