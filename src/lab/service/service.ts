/**
 * The four operations of training, by Tinker's names: sample, forward_backward, optim_step, save.
 *
 * Calls on one model are carried out in the order in which they were made, whether or not they are awaited; each
 * promise resolves when its result is there. Everything not marked "in this process" can travel over HTTP.
 */
import { UserError } from '../../base/user-error.js';
import type { AdamOptions, Generated, Sampling, SeededPrompt } from '../engine/engine.js';
import type { Clip, Objective, Pull } from '../objectives/objectives.js';
import type { Rng } from '../rng.js';

/** A sequence to train on. Arrays but `prompt` have an entry for each token after the prompt. */
export type Datum = {
  /** At least one token; none of them is trained. Neighbouring datums that share the array are computed together. */
  readonly prompt: Int32Array;
  /** Has at least one token. */
  readonly tokens: Int32Array;
  /**
   * Tokens that are scored in the place of `tokens`, as many for each of them, token by token; the arrays below then have an entry for
   * each of these. In this process.
   */
  readonly targets?: Int32Array | undefined;
  /** Weight of each token in the loss; 0 for tokens that the policy did not generate. */
  readonly weights: ArrayLike<number>;
  /** Zeros by default. */
  readonly advantages?: ArrayLike<number> | undefined;
  /**
   * Log-probability of each token when it was sampled. Left out when the policy that sampled is the one being trained:
   * the ratio is then 1.
   */
  readonly logprobs?: ArrayLike<number> | undefined;
  /** Bounds of each token's ratio, instead of the objective's. */
  readonly clips?: { readonly low?: ArrayLike<number>; readonly high?: ArrayLike<number> } | undefined;
  /**
   * Tokens with a number other than 0 make up the ratio of the sequence, for an objective that uses it. Default: the
   * tokens with a weight.
   */
  readonly ratioMask?: ArrayLike<number> | undefined;
  /** Log-probability under a reference model, for the KL term of the loss. In this process. */
  readonly reference?: ArrayLike<number> | undefined;
};

/** The tokens of a datum whose log-probabilities are computed. */
export function scoredTokens({ tokens, targets }: Datum): Int32Array {
  return targets ?? tokens;
}

/** How the loss of a batch is computed: a weighted sum over its tokens, divided by `divisor`. */
export type Loss = {
  readonly objective: Objective;
  /** Default 1. */
  readonly divisor?: number;
  /** Softmax temperature of the policy. Default 1. */
  readonly temperature?: number;
  /** KL term of each token towards the reference. In this process. */
  readonly pull?: { readonly estimator: Pull; readonly coefficient: number } | null;
  /** Bonus per nat of entropy of each token. In this process. */
  readonly entropyCoefficient?: number;
};

/** A part of the batch, and the adapters that learn from it. In this process, on a model with adapters. */
export type RoutingPass = {
  /** Has one entry for each datum. */
  readonly takes: readonly boolean[];
  /** Names of the adapters that learn. */
  readonly trained: readonly string[];
  /** Scales of adapters during the pass, by name. */
  readonly scales: Readonly<Record<string, number>>;
};

/**
 * Sums over the tokens with a weight; the loss is weighted, the others are not. `kl1`, `kl2`: of the sampler's
 * log-probability less the policy's, and of half its square. `pull`: of the estimate of the KL to the reference.
 * `clippedLow`, `clippedHigh`: number of clipped tokens.
 */
export type BatchStatistics = {
  loss: number;
  tokens: number;
  entropy: number;
  kl1: number;
  kl2: number;
  pull: number;
  clippedLow: number;
  clippedHigh: number;
};

/** Result of `forwardBackward`. `logprobs`: log-probability of each token of each datum, before the optimizer step. */
export type ForwardBackward = BatchStatistics & { readonly logprobs: readonly Float32Array[] };

export type SampleRequest = {
  readonly prompts: readonly SeededPrompt[];
  readonly sampling: Sampling;
  /** Replaces the seeds: one stream for all sequences. In this process. */
  readonly stream?: Rng | undefined;
};

/**
 * Bound of an optimizer step: it is halved until the policy has moved by no more than `bound` (nats a datum) on
 * `datums`.
 */
export type StepBound = { readonly datums: readonly Datum[]; readonly temperature: number; readonly bound: number };

/** `kl`: distance of a bounded step in the end, nats a datum. `halvings`: how often the step was halved. */
export type StepTaken = {
  /** L2 norm before clipping; null when the service does not report it. */
  readonly gradientNorm: number | null;
  readonly bounded: { readonly kl: number; readonly halvings: number } | null;
};

export type TrainingService = {
  /** Continues each prompt. Common prefixes, and sequences of an earlier call, are not computed again. */
  sample(request: SampleRequest): Promise<readonly Generated[]>;
  /** Log-probability of each token of each datum, without a gradient. */
  forward(datums: readonly Datum[], options?: { readonly temperature?: number }): Promise<Float32Array[]>;
  /**
   * A copy of the present weights to sample from while training continues. Left out when there is one set of weights:
   * sampling must then end before they change.
   */
  snapshot?(): Pick<TrainingService, 'sample'>;
  /** Adds to the gradient, which accumulates until the next `optimStep`. */
  forwardBackward(
    datums: readonly Datum[],
    loss: Loss,
    options?: { readonly passes?: readonly RoutingPass[] | null },
  ): Promise<ForwardBackward>;
  /** @param bound In this process. */
  optimStep(options: AdamOptions, bound?: StepBound | null): Promise<StepTaken>;
  /** All numbers that are trained. In this process. */
  weights?(): Promise<Float32Array>;
  /** Writes weights and optimizer state into an existing directory. */
  saveState(directory: string): Promise<void>;
  loadState(directory: string): Promise<void>;
};

export function emptyStatistics(): BatchStatistics {
  return { loss: 0, tokens: 0, entropy: 0, kl1: 0, kl2: 0, pull: 0, clippedLow: 0, clippedHigh: 0 };
}

export function addStatistics(sums: BatchStatistics, more: BatchStatistics): void {
  sums.loss += more.loss;
  sums.tokens += more.tokens;
  sums.entropy += more.entropy;
  sums.kl1 += more.kl1;
  sums.kl2 += more.kl2;
  sums.pull += more.pull;
  sums.clippedLow += more.clippedLow;
  sums.clippedHigh += more.clippedHigh;
}

/**
 * Arguments of an objective for one token: log-probabilities, advantage and bounds, with the ratio of a whole sequence
 * when the objective uses that.
 */

/** Arguments of `Objective.loss` and `Objective.gradient`. */
type LossTerms = readonly [lp: number, q: number, A: number, clip: Clip | undefined];

/**
 * The terms of each token of a datum.
 *
 * An objective on the ratio of the sequence gets as q the log-probability that makes exp(lp − q) the geometric mean of
 * the sequence's token ratios. The gradient w.r.t. lp is then that of GSPO-token (Zheng et al. 2025, eq. 13): the ratio as
 * a constant, times the token's own derivative.
 *
 * @param scores Log-probability of each token under the model that is trained.
 */
export function lossTerms(datum: Datum, scores: ArrayLike<number>, objective: Objective): (token: number) => LossTerms {
  const { logprobs, advantages } = datum;
  const logRatio = objective.ratio === 'sequence' ? meanLogRatio(datum, scores) : null;
  return (token) => {
    const lp = scores[token]!;
    const q = logRatio === null ? (logprobs?.[token] ?? lp) : lp - logRatio;
    return [lp, q, advantages?.[token] ?? 0, clipAt(datum, token, objective)];
  };
}

/** The loss of a datum: the weighted sum over its tokens. */
export function lossOfDatum(datum: Datum, scores: ArrayLike<number>, objective: Objective): number {
  const terms = lossTerms(datum, scores, objective);
  let sum = 0;
  for (let token = 0; token < scores.length; token++) {
    const weight = datum.weights[token]!;
    if (weight !== 0) sum += weight * objective.loss(...terms(token));
  }
  return sum;
}

/**
 * Mean log-ratio of the masked tokens; 0 when there are none, or when the policy that sampled is the one being
 * trained.
 */
function meanLogRatio({ logprobs, ratioMask, weights }: Datum, scores: ArrayLike<number>): number {
  const mask = ratioMask ?? weights;
  let [sum, count] = [0, 0];
  for (let token = 0; token < scores.length; token++) {
    if (mask[token] === 0) continue;
    sum += scores[token]! - (logprobs?.[token] ?? scores[token]!);
    count++;
  }
  return count === 0 ? 0 : sum / count;
}

/** Bounds of one token: the datum's, or else the objective's. @throws UserError when the objective clips nothing. */
function clipAt({ clips }: Datum, token: number, { clip, name }: Objective): Clip | undefined {
  if (clips === undefined) return clip;
  if (clip !== undefined) return { low: clips.low?.[token] ?? clip.low, high: clips.high?.[token] ?? clip.high };
  throw new UserError(
    `The loss ${name} does not clip, but a datum has clip bounds for its tokens.`,
    'Use ppo or cispo.',
  );
}

/** @param difference The sampler's log-probability of a token less the policy's. */
export function addDistance(sums: BatchStatistics, difference: number): void {
  sums.kl1 += difference;
  sums.kl2 += difference ** 2 / 2;
}

/** Counts clipped tokens as TRL does: those whose loss no longer falls when the ratio moves on. */
export function countClipped(sums: BatchStatistics, ratio: number, A: number, clip: Clip): void {
  if (ratio < clip.low && A < 0) sums.clippedLow++;
  if (ratio > clip.high && A > 0) sums.clippedHigh++;
}
