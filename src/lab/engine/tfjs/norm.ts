import type { Device, Tensor } from './device.js';

/** Result of RMSNorm, with the tensors for its derivative. */
export type Normed = {
  /** [rows × width] */
  readonly result: Tensor;
  /** The rows divided by their root mean square. */
  readonly unit: Tensor;
  /** The reciprocal root mean square of each row, [rows × 1]. */
  readonly scale: Tensor;
};

export function rmsNorm({ tf }: Device, x: Tensor, weight: Tensor, epsilon: number): Normed {
  const scale = tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), epsilon));
  const unit = tf.mul(x, scale);
  return { result: tf.mul(unit, weight), unit, scale };
}

/** Derivatives w.r.t. the rows and the weight, given that w.r.t. the result. */
export function rmsNormBackward(
  { tf }: Device,
  dResult: Tensor,
  { unit, scale }: Normed,
  weight: Tensor,
): { dX: Tensor; dWeight: Tensor } {
  const dUnit = tf.mul(dResult, weight);
  const along = tf.mean(tf.mul(dUnit, unit), -1, true);
  return { dX: tf.mul(scale, tf.sub(dUnit, tf.mul(unit, along))), dWeight: tf.sum(tf.mul(dResult, unit), 0) };
}
