/**
 * The four operations that training consists of, in the words that Tinker made common: sample, forward_backward, optim_step, save.
 *
 * Calls on one model are carried out in the order in which they were made, whether or not they are awaited; each promise
 * resolves when its result is there. Everything but what is marked "in this process" can travel over HTTP.
 */
import type { AdamOptions, Generated, Sampling, SeededPrompt } from '../engine/engine.js';
import type { Objective, Pull } from '../objectives/objectives.js';
import type { Rng } from '../rng.js';

/** A sequence to learn from. Arrays but `prompt` have an entry for each token after the prompt. */
export type Datum = {
  /** At least one token; nothing of it is learnt. Neighbours that share the array are computed together. */
  readonly prompt: Int32Array;
  /** At least one. */
  readonly tokens: Int32Array;
  /** Of each token in the loss; 0 where the policy did not speak. */
  readonly weights: ArrayLike<number>;
  /** Zeros where it is left out. */
  readonly advantages?: ArrayLike<number> | undefined;
  /** Log-probability with which each token was sampled. Left out: by the very policy that learns, so that the ratio is 1. */
  readonly logprobs?: ArrayLike<number> | undefined;
  /** Bounds of each token's ratio, in the place of the objective's. */
  readonly clips?: { readonly low?: ArrayLike<number>; readonly high?: ArrayLike<number> } | undefined;
  /** Tokens other than 0 make up the ratio of the sequence, for an objective that takes it. Left out: the tokens with a weight. */
  readonly ratioMask?: ArrayLike<number> | undefined;
  /** Log-probability under a reference model, to which the loss may pull. In this process. */
  readonly reference?: ArrayLike<number> | undefined;
};

/** How the loss of a batch is computed: a weighted sum over its tokens, divided by `divisor`. */
export type Loss = {
  readonly objective: Objective;
  /** Default 1. */
  readonly divisor?: number;
  /** Softmax temperature of the policy. Default 1. */
  readonly temperature?: number;
  /** Pull of each token towards the reference. In this process. */
  readonly pull?: { readonly estimator: Pull; readonly coefficient: number } | null;
  /** Bonus per nat of entropy of each token. In this process. */
  readonly entropyCoefficient?: number;
};

/** A part of the batch, and what learns from it. In this process, on a model with adapters. */
export type RoutingPass = {
  /** One entry for each datum. */
  readonly takes: readonly boolean[];
  /** Names of the adapters that learn. */
  readonly trained: readonly string[];
  /** Switches of adapters in the meantime, by name. */
  readonly scales: Readonly<Record<string, number>>;
};

/**
 * Sums over the tokens with a weight: the loss with its weights, everything else without. `kl1`, `kl2`: of the sampler's log-probability less the
 * policy's, and of half its square. `pull`: of the estimate of the distance to the reference. `clippedLow`, `clippedHigh`: how many the objective cut.
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

/** What `forwardBackward` computed. `logprobs`: of each token of each datum, before anything is learnt from it. */
export type ForwardBackward = BatchStatistics & { readonly logprobs: readonly Float32Array[] };

export type SampleRequest = {
  readonly prompts: readonly SeededPrompt[];
  readonly sampling: Sampling;
  /** Replaces the seeds: one stream for all sequences. In this process. */
  readonly stream?: Rng | undefined;
};

/** An optimizer step may be held back: halved until the policy has moved by no more than `bound` (nats a datum) on `datums`. */
export type StepBound = { readonly datums: readonly Datum[]; readonly temperature: number; readonly bound: number };

/** `kl`: how far a bounded step went in the end, nats a datum. `halvings`: how often it was halved for that. */
export type StepTaken = {
  /** L2 norm before it was clipped; null: the service does not say. */
  readonly gradientNorm: number | null;
  readonly bounded: { readonly kl: number; readonly halvings: number } | null;
};

export type TrainingService = {
  /** Continues each prompt. What prompts have in common, and what an earlier call said, is not computed again. */
  sample(request: SampleRequest): Promise<readonly Generated[]>;
  /** Log-probability of each token of each datum; learns nothing. */
  forward(datums: readonly Datum[], options?: { readonly temperature?: number }): Promise<Float32Array[]>;
  /**
   * The weights as they are now, to sample from while they are trained on. Left out: there is one set of weights, and what is being
   * played must end before they change.
   */
  snapshot?(): Pick<TrainingService, 'sample'>;
  /** Adds to the gradient, which sums up until the next `optimStep`. */
  forwardBackward(
    datums: readonly Datum[],
    loss: Loss,
    options?: { readonly passes?: readonly RoutingPass[] | null },
  ): Promise<ForwardBackward>;
  /** @param bound In this process. */
  optimStep(options: AdamOptions, bound?: StepBound | null): Promise<StepTaken>;
  /** All numbers that are trained. In this process. */
  weights?(): Promise<Float32Array>;
  /** Writes weights and optimizer into a directory that exists. */
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
