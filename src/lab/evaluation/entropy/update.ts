/** The step, and the gradients it is made from. */
import type { Engine, Floats } from '../../engine/engine.js';
import { decayingWeights } from '../../engine/double-precision.js';
import type { ScoredSequence } from '../../probes/entropy-estimates.js';
import { promptGradients } from '../../probes/prompt-gradients.js';
import { adamUpdate, sgdUpdate, type UpdateVector } from '../../probes/update-vector.js';
import { norm } from '../../probes/vectors.js';
import type { UpdateBatch } from './batches.js';
import type { EntropyConfig } from './keys.js';

/** `groupGradients`: of the loss, one a prompt, as means over a prompt's answers; `gradient` is their mean. */
export type Update = UpdateVector & { readonly gradient: Floats; readonly groupGradients: readonly Floats[] };

export async function updateOf(engine: Engine, U: UpdateBatch, config: EntropyConfig): Promise<Update> {
  const { epsilon, beta1, beta2, weight_decay: weightDecay, grad_clip: clip } = config;
  const groupGradients = await groupGradientsOf(engine, U, config);
  const gradient = meanOf(groupGradients);
  if (config.update === 'sgd') return { ...sgdUpdate(gradient), gradient, groupGradients };
  const options = { beta1, beta2, epsilon, weightDecay, ...(clip > 0 && { clipNorm: clip }) };
  const [weights, state] = [await engine.weights(), await engine.optimizerState()];
  return { ...adamUpdate({ gradient, weights, state }, options, decayingWeights(engine)), gradient, groupGradients };
}

/** Gradients of the loss, one a prompt; their mean is the gradient of the batch. */
export async function groupGradientsOf(engine: Engine, U: UpdateBatch, { temperature }: EntropyConfig) {
  const gradients: Floats[] = [];
  for await (const gradient of promptGradients(engine, U, temperature)) gradients.push(gradient);
  return gradients;
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
