/**
 * The first-order change of a policy's entropy per unit of a step along v, from sequences that the policy drew; an analytic derivative,
 * not a difference.
 *
 * Per sequence H = E[h] with h = Σ_k H_k, so ∇H = E[Σ_k ∇H_k + h ∇S] with S = Σ_k log π(t_k). A token cannot change entropies before
 * it, so its credit is G_k = Σ_{k′>k} H_k′ (H_k itself is known before the token is drawn, and is a baseline):
 * ∇H = E[Σ_k ∇H_k + Σ_k G_k ∇log π_k]. Per token H̄ = E[h]/E[T] with T the length, and the denominator moves, too:
 * ∇H̄ = E[Σ_k ∇H_k + Σ_k Q_k ∇log π_k] / E[T], Q_k = Σ_{k′>k} (H_k′ − H̄). That −H̄ is the denominator's term; as a part of the sum over
 * later tokens it is centred, where −H̄ T ∇S over whole sequences would add much noise.
 *
 * The estimate by importance sampling divides by the sum of its weights, which moves as well. Its derivative per sequence therefore has
 * h − h̄ in the place of h, with h̄ the mean over the sequences, as per token it has h − H̄ T.
 *
 * One backward pass gives ∇H: `backward` takes the factors of ∇log π_k and ∇H_k above as derivatives. The product of ∇H
 * with v is δH₁/η.
 */
import { errorOfSum, total, type Estimate, type ScoredSequence, type Unit } from './entropy-estimates.js';
import { dot } from './vectors.js';

/**
 * Credit assignment of tokens. `whole`: the entropy of the whole sequence, less the mean; the exact derivative of the
 * estimate by importance sampling, with its noise. `to_go`: the entropy of later tokens. `centred`: the same, less the
 * mean over the other sequences at the same place.
 */
export const credits = ['whole', 'to_go', 'centred'] as const;
type Credit = (typeof credits)[number];

export type DerivativeOptions = {
  readonly per?: Unit;
  readonly credit?: Credit;
  /** Whether the change of the lengths is accounted for, per token. Default true; false shows its effect. */
  readonly hasDenominator?: boolean;
};

/**
 * Derivatives of the entropy w.r.t. the scores of tokens: one array a sequence; the derivative w.r.t. every entropy is the
 * same.
 */
export type ScoreDerivatives = { readonly byLogprob: readonly Float64Array[]; readonly byEntropy: number };

/** Arguments of `backward` that give ∇H. Scores are constants in the credits. */
export function entropyDerivatives(
  sequences: readonly ScoredSequence[],
  options: DerivativeOptions = {},
): ScoreDerivatives {
  const size = sizeOf(sequences, options.per);
  const byLogprob = creditsOf(sequences, options).map((credit) => credit.map((each) => each / size));
  return { byLogprob, byEntropy: 1 / size };
}

/**
 * `terms`: each sequence's term of the value. `influences`: each sequence's influence on the estimate; the error is
 * that of their sum.
 */
type EntropySlope = Estimate & { readonly terms: readonly number[]; readonly influences: readonly number[] };

/**
 * The product of ∇H with a direction, from the derivatives of each token's scores along it: each sequence's term, and
 * the error. The value is as exact as these derivatives; when they are finite differences, one backward pass
 * (`entropyDerivatives`) is more exact.
 *
 * @param slopes Derivatives along the direction, in place of scores.
 */
export function entropySlope(
  sequences: readonly ScoredSequence[],
  slopes: readonly ScoredSequence[],
  options: DerivativeOptions = {},
): EntropySlope {
  const { per = 'token' } = options;
  const size = sizeOf(sequences, per);
  const credited = creditsOf(sequences, options);
  const sums = sequences.map((_, index) => {
    const { logprobs, entropies } = slopes[index]!;
    return dot(credited[index]!, logprobs) + total(entropies);
  });
  const terms = sums.map((sum) => sum / size);
  const value = total(terms);
  // A sequence also influences the divisor (`size`) and the mean entropy, which are estimates themselves (delta
  // method).
  const mean = meanEntropy(sequences, per);
  const change = total(slopes.map(({ logprobs }) => sizeChange(logprobs, options))) / size;
  const influences = sequences.map(({ logprobs: { length }, entropies }, index) => {
    const own = per === 'token' ? length : 1;
    return terms[index]! - (value * own + change * (total(entropies) - mean * own)) / size;
  });
  return { value, terms, influences, standardError: errorOfSum(influences) };
}

/** A sequence's estimate of how the step changes what the entropy is divided by: the tokens, or the weights of whole sequences. */
function sizeChange(slopes: ArrayLike<number>, { per = 'token', credit, hasDenominator = true }: DerivativeOptions) {
  if (per === 'sequence') return credit === 'whole' ? total(slopes) : 0;
  return hasDenominator ? lengthChange(slopes) : 0;
}

/** Σ_k (T − 1 − k) ∇_v log π_k: a sequence's estimate of how the step changes the length. */
function lengthChange(slopes: ArrayLike<number>): number {
  let sum = 0;
  for (let k = 0; k < slopes.length; k++) sum += (slopes.length - 1 - k) * slopes[k]!;
  return sum;
}

function creditsOf(
  sequences: readonly ScoredSequence[],
  { per = 'token', credit = 'centred', hasDenominator = true }: DerivativeOptions,
): Float64Array[] {
  const lost = per === 'token' && hasDenominator ? meanEntropy(sequences, per) : 0;
  const later = sequences.map(({ entropies }) => {
    const sums = new Float64Array(entropies.length);
    for (let k = sums.length - 2; k >= 0; k--) sums[k] = sums[k + 1]! + entropies[k + 1]! - lost;
    return sums;
  });
  if (credit === 'to_go') return later;
  if (credit === 'centred') return lessOthers(later);
  const mean = per === 'sequence' ? meanEntropy(sequences, per) : 0;
  return sequences.map(({ entropies }) => {
    return new Float64Array(entropies.length).fill(total(entropies) - lost * entropies.length - mean);
  });
}

/** Subtracts the mean over the other sequences at the same place; one that has ended counts 0 there. */
function lessOthers(credited: readonly Float64Array[]): Float64Array[] {
  if (credited.length < 2) return [...credited];
  const sums = new Float64Array(Math.max(...credited.map(({ length }) => length)));
  for (const row of credited) row.forEach((value, k) => (sums[k]! += value));
  return credited.map((row) => row.map((value, k) => value - (sums[k]! - value) / (credited.length - 1)));
}

function sizeOf(sequences: readonly ScoredSequence[], per: Unit = 'token'): number {
  return per === 'token' ? total(sequences.map(({ logprobs }) => logprobs.length)) : sequences.length;
}

function meanEntropy(sequences: readonly ScoredSequence[], per: Unit): number {
  return total(sequences.map(({ entropies }) => total(entropies))) / sizeOf(sequences, per);
}
