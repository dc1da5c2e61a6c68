/** The step, the gradients that it is made from, and how noisy they are. */
import type { Engine, Floats } from '../../engine/engine.js';
import { decayingWeights } from '../../engine/double-precision.js';
import type { ScoredSequence } from '../../probes/entropy-estimates.js';
import { noiseOfMicrobatches, noiseOfTwoSizes, noiseScale, type NoiseTerms } from '../../probes/gradient-noise.js';
import { effectiveSampleSize } from '../../probes/importance-sampling.js';
import { gradientOf, partOf } from '../../probes/scored-batch.js';
import { adamUpdate, sgdUpdate, type UpdateVector } from '../../probes/update-vector.js';
import { dot, norm } from '../../probes/vectors.js';
import type { UpdateBatch } from './batches.js';
import type { EntropyConfig } from './keys.js';

/** `groupGradients`: of the loss, one a prompt, as means over a prompt's answers; `gradient` is their mean. */
export type Update = UpdateVector & { readonly gradient: Floats; readonly groupGradients: readonly Floats[] };

export async function updateOf(engine: Engine, U: UpdateBatch, config: EntropyConfig): Promise<Update> {
  const { epsilon, beta1, beta2, weight_decay: weightDecay, grad_clip: clip } = config;
  const groupGradients: Floats[] = [];
  for (const [p, row] of U.advantages_PG.entries()) {
    const byLogprob = row.map((A, g) => constant(U.scores_PG[p]![g]!, -A * U.weights_PG[p]![g]! * config.B_U));
    groupGradients.push(await gradientOf(engine, partOf(U.batch, p), { byLogprob, byEntropy: 0 }, config.temperature));
  }
  const gradient = meanOf(groupGradients);
  if (config.update === 'sgd') return { ...sgdUpdate(gradient), gradient, groupGradients };
  const options = { beta1, beta2, epsilon, weightDecay, ...(clip > 0 && { clipNorm: clip }) };
  const [weights, state] = [await engine.weights(), await engine.optimizerState()];
  return { ...adamUpdate({ gradient, weights, state }, options, decayingWeights(engine)), gradient, groupGradients };
}

export function constant({ logprobs: { length } }: ScoredSequence, value: number): Float64Array {
  return new Float64Array(length).fill(value);
}

function meanOf(vectors: readonly Floats[]): Float64Array {
  const mean = new Float64Array(vectors[0]!.length);
  for (const vector of vectors) for (let at = 0; at < mean.length; at++) mean[at]! += vector[at]! / vectors.length;
  return mean;
}

export function summaryOf({ direction, baseline, gradient }: Update, { update, grad_clip: clip }: EntropyConfig) {
  return {
    method: update,
    vec_norm: norm(direction),
    baseline_norm: norm(baseline),
    gradient_norm: norm(gradient),
    num_params: direction.length,
    gradient_clip: clip,
  };
}

/**
 * The noise scale of U in prompts: of microbatches of one prompt; and `two_sizes`, from the prompts of the first half by themselves and the
 * mean of the second half, which are independent.
 */
export function noiseOf(gradients: readonly Floats[], { weights_PG }: Pick<UpdateBatch, 'weights_PG'>) {
  const mean = meanOf(gradients);
  const squares = gradients.map((each) => dot(each, each));
  const half = Math.floor(gradients.length / 2);
  const large = meanOf(gradients.slice(half));
  const small = squares.slice(0, half).reduce((sum, square) => sum + square / half, 0);
  const twoSizes = noiseOfTwoSizes(
    { examples: 1, square: small },
    { examples: gradients.length - half, square: dot(large, large) },
  );
  return {
    ...scaled(noiseOfMicrobatches(squares, dot(mean, mean), 1)),
    two_sizes: scaled(twoSizes),
    ess: effectiveSampleSize(weights_PG.flat()),
  };
}

function scaled(terms: NoiseTerms) {
  return { signal: terms.signal, noise: terms.noise, b_simple: noiseScale(terms) };
}
