import type { Batch } from '../model/batch.js';
import type { Device, Tensor } from './device.js';

/** Scores of the vocabulary for some rows, as log-probabilities, [rows × vocabulary], and their entropies, [rows × 1]. */
export type Distribution = { readonly logprobs: Tensor; readonly entropies: Tensor };

/** @param normed [rows × width], after the final norm; @param head [vocabulary × width]. */
export function distribution(device: Device, normed: Tensor, head: Tensor, temperature = 1): Distribution {
  const { tf } = device;
  const scores = device.productByTransposed(normed, head);
  const logprobs = logSoftmax(device, temperature === 1 ? scores : tf.div(scores, temperature));
  // An impossible token has 0 · −big = −0, never NaN: its log-probability is finite in single precision.
  return { logprobs, entropies: tf.neg(tf.sum(tf.mul(tf.exp(logprobs), logprobs), 1, true)) };
}

/** Log-softmax of each row. */
export function logSoftmax({ tf }: Device, scores: Tensor): Tensor {
  const shifted = tf.sub(scores, tf.max(scores, 1, true));
  return tf.sub(shifted, tf.log(tf.sum(tf.exp(shifted), 1, true)));
}

/** Consecutive head rows whose scores fit into one tensor, and the targets that they predict. */
export type Chunk = {
  readonly first: number;
  readonly rows: number;
  /** Indices of targets. */
  readonly targets: readonly number[];
  /** Index of each target's score in the chunk. */
  readonly places: readonly number[];
};

export function chunksOf({ headRows, targets, targetHeads }: Batch, vocabulary: number, keptScores: number): Chunk[] {
  const rows = Math.min(headRows.length, Math.max(1, Math.floor(keptScores / vocabulary)));
  const chunks = Array.from({ length: Math.ceil(headRows.length / rows) }, (_, index) => ({
    first: index * rows,
    rows: Math.min(rows, headRows.length - index * rows),
    targets: [] as number[],
    places: [] as number[],
  }));
  targetHeads.forEach((head, target) => {
    const chunk = chunks[Math.floor(head / rows)]!;
    chunk.targets.push(target);
    chunk.places.push((head - chunk.first) * vocabulary + targets[target]!);
  });
  return chunks;
}

/** The derivative of the loss w.r.t. each target's log-probability and entropy; the second may be null. */
export type ScoreGradient = { readonly dLogprob: Float32Array; readonly dEntropy: Float32Array | null };

/**
 * The derivative w.r.t. the scores of a chunk, [rows × vocabulary]: dLogprob at the chosen tokens, and everywhere −p · (Σ
 * dLogprob + Σ dEntropy · (log p + entropy)), the sums over the row's targets.
 */
export function scoresBackward(
  device: Device,
  chunk: Chunk,
  { logprobs, entropies }: Distribution,
  gradient: ScoreGradient,
): Tensor {
  const { tf } = device;
  const vocabulary = logprobs.shape[1]!;
  const { chosen, dLogprobs, dEntropies } = sums(chunk, vocabulary, gradient);
  const column = (values: Float32Array) => tf.reshape(device.floats(values), [chunk.rows, 1]);
  let slope = column(dLogprobs);
  if (dEntropies !== null) slope = tf.add(slope, tf.mul(column(dEntropies), tf.add(logprobs, entropies)));
  const ids = tf.reshape(device.ids([...chosen.keys()]), [-1, 1]);
  const updates = device.floats(Float32Array.from(chosen.values()));
  const atChosen = tf.scatterND(ids, updates, [chunk.rows * vocabulary]);
  return tf.sub(tf.reshape(atChosen, logprobs.shape), tf.mul(tf.exp(logprobs), slope));
}

/** Sums on the host, in a fixed order: a device adds terms of the same place in any order. */
function sums({ rows, targets, places }: Chunk, vocabulary: number, { dLogprob, dEntropy }: ScoreGradient) {
  const chosen = new Map<number, number>();
  const dLogprobs = new Float32Array(rows);
  const dEntropies = dEntropy === null ? null : new Float32Array(rows);
  targets.forEach((target, index) => {
    const place = places[index]!;
    const row = Math.floor(place / vocabulary);
    chosen.set(place, (chosen.get(place) ?? 0) + dLogprob[target]!);
    dLogprobs[row]! += dLogprob[target]!;
    if (dEntropies !== null) dEntropies[row]! += dEntropy![target]!;
  });
  return { chosen, dLogprobs, dEntropies };
}
