import type { Sampling } from '../engine.js';
import type { Device, Tensor } from './device.js';
import { logSoftmax } from './head.js';

/** The tokens that a step of sampling has drawn, one for each row, on the device. */
export type Drawn = {
  /** [rows], int32 */
  readonly tokens: Tensor;
  /** Log-probability of the token under the model, and under the distribution drawn from; [rows]. */
  readonly logprobs: Tensor;
  readonly samplingLogprobs: Tensor;
};

/** A score no token can have; its probability is exactly 0. */
const NEVER = -1e30;

/**
 * Draws by inverse CDF from the distribution of each row under `sampling`, in single precision.
 *
 * @param logprobs The model's, [rows × vocabulary];
 * @param uniforms in [0, 1), [rows].
 */
export function drawTokens(device: Device, logprobs: Tensor, uniforms: Tensor, sampling: Sampling): Drawn {
  const { tf } = device;
  const { temperature } = sampling;
  if (temperature === 0) {
    const tokens = tf.cast(tf.argMax(logprobs, 1), 'int32');
    return { tokens, logprobs: at(device, logprobs, tokens), samplingLogprobs: tf.zerosLike(uniforms) };
  }
  const tempered = temperature === 1 ? logprobs : logSoftmax(device, tf.div(logprobs, temperature));
  const drawn = cut(device, tempered, sampling);
  const tokens = passing(device, tf.exp(drawn), uniforms);
  return {
    tokens,
    logprobs: at(device, logprobs, tokens),
    samplingLogprobs: drawn === logprobs ? at(device, logprobs, tokens) : at(device, drawn, tokens),
  };
}

/** Applies top-k, then top-p, and normalises; ties of the last token kept stay. */
function cut(device: Device, logprobs: Tensor, { topK = Infinity, topP = 1 }: Sampling): Tensor {
  const { tf } = device;
  const vocabulary = logprobs.shape[1]!;
  if (topK >= vocabulary && topP >= 1) return logprobs;
  const sorted = tf.topk(logprobs, Math.min(topK, vocabulary), true).values;
  let least = tf.min(sorted, 1, true);
  if (topP < 1) {
    // The share of top-p counts from the sum that top-k has left, without ties beyond k.
    const p = tf.exp(sorted);
    const before = tf.cumsum(p, 1, true);
    const isKept = tf.less(before, tf.mul(tf.sum(p, 1, true), topP));
    least = tf.min(tf.where(isKept, sorted, tf.zerosLike(sorted)), 1, true);
  }
  return logSoftmax(device, tf.where(tf.greaterEqual(logprobs, least), logprobs, tf.fill(logprobs.shape, NEVER)));
}

/**
 * The token where the running sum passes `uniform` of its total; the last token, where rounding leaves that beyond it.
 */
function passing({ tf }: Device, weights: Tensor, uniforms: Tensor): Tensor {
  const running = tf.cumsum(weights, 1);
  const goal = tf.mul(tf.reshape(uniforms, [-1, 1]), tf.sum(weights, 1, true));
  const passed = tf.sum(tf.cast(tf.lessEqual(running, goal), 'float32'), 1);
  const ids = tf.range(0, weights.shape[1]!);
  const last = tf.max(tf.mul(tf.cast(tf.greater(weights, 0), 'float32'), ids), 1);
  return tf.cast(tf.minimum(passed, last), 'int32');
}

/** The number of each row at its token. */
function at(device: Device, rows: Tensor, tokens: Tensor): Tensor {
  const { tf } = device;
  const [count, width] = rows.shape as [number, number];
  const places = tf.add(tf.mul(tf.range(0, count, 1, 'int32'), tf.scalar(width, 'int32')), tokens);
  return device.rows(tf.reshape(rows, [-1]), places);
}
