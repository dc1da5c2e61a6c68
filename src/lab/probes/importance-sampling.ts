/**
 * Entropy of a policy that has moved, from sequences that the policy drew before it moved: self-normalised importance
 * sampling (Owen 2013, Monte Carlo theory, chapter 9.2).
 *
 * With S_i the log-probability of sequence i before and S_i′ after, w_i = exp(S_i′ − S_i), h_i its entropy (the sum
 * over its tokens) and T_i its tokens, the entropy per token is Σ w_i h_i′ / Σ w_i T_i, and per sequence Σ w_i h_i′ /
 * Σ w_i. The effective sample size (Σ w)² / Σ w² (Kong 1992) is the number of sequences of equal weight with the same
 * information.
 */
import { quantile } from '../../analysis/statistics.js';
import { errorOfSum, type Unit } from './entropy-estimates.js';
import { dot } from './vectors.js';

/**
 * Each array has one number for each sequence. Log-probabilities and entropies are in nats, sums over the tokens of a
 * sequence.
 */
type Reweighted = {
  readonly logprobs: readonly number[];
  readonly movedLogprobs: readonly number[];
  readonly entropies: readonly number[];
  readonly movedEntropies: readonly number[];
  readonly lengths: readonly number[];
};

/**
 * `change`: ΔH in nats, of which `contributions` are the sequences' parts. `standardError`: of the change, both entropies being ratios of
 * sums over the same sequences (delta method), from the `influences` of these. `weights` sum to 1.
 */
type EntropyChange = {
  readonly before: number;
  readonly after: number;
  readonly change: number;
  readonly standardError: number;
  readonly contributions: readonly number[];
  readonly influences: readonly number[];
  readonly logWeights: { readonly min: number; readonly median: number; readonly max: number };
  readonly weights: readonly number[];
  readonly ess: number;
  /** Share of the log-weights that were clipped to ±`clip`. */
  readonly clipShare: number;
};

/**
 * @param options.clip Greatest absolute log-weight; larger ones are clipped, which biases the estimate and bounds its
 * variance.
 */
export function entropyChange(
  { logprobs, movedLogprobs, entropies, movedEntropies, lengths }: Reweighted,
  { per = 'token', clip = 10 }: { readonly per?: Unit; readonly clip?: number } = {},
): EntropyChange {
  const raw = movedLogprobs.map((moved, index) => moved - logprobs[index]!);
  const cut = raw.map((value) => Math.max(-clip, Math.min(clip, value)));
  const top = Math.max(...cut);
  const unnormalised = cut.map((value) => Math.exp(value - top));
  const total = sum(unnormalised);
  const weights = unnormalised.map((weight) => weight / total);
  const sizes = per === 'token' ? lengths : lengths.map(() => 1);
  const even = weights.map(() => 1 / weights.length);
  const before = dot(even, entropies) / dot(even, sizes);
  const weighted = dot(weights, sizes);
  const after = dot(weights, movedEntropies) / weighted;
  const contributions = weights.map((weight, index) => {
    return (weight * movedEntropies[index]!) / weighted - (sizes[index]! / sum(sizes)) * before;
  });
  const influences = weights.map((weight, index) => {
    const moved = (weight * (movedEntropies[index]! - after * sizes[index]!)) / weighted;
    return moved - (entropies[index]! - before * sizes[index]!) / sum(sizes);
  });
  const sorted = raw.toSorted((a, b) => a - b);
  return {
    before,
    after,
    change: after - before,
    standardError: errorOfSum(influences),
    contributions,
    influences,
    logWeights: { min: sorted[0]!, median: quantile(sorted, 0.5), max: sorted.at(-1)! },
    weights,
    ess: effectiveSampleSize(weights),
    clipShare: raw.filter((value) => Math.abs(value) > clip).length / raw.length,
  };
}

/** (Σ w)² / Σ w², between 1 and the number of weights; the same for weights multiplied by a constant. */
export function effectiveSampleSize(weights: readonly number[]): number {
  const most = Math.max(...weights);
  const scaled = weights.map((weight) => weight / most);
  return sum(scaled) ** 2 / sum(scaled.map((weight) => weight ** 2));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
