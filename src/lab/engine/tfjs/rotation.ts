import type { ModelShape } from '../engine.js';
import { widthsOf } from '../model-shape.js';
import { ropeFrequencies } from '../rope.js';
import type { Device, Tensor } from './device.js';

/**
 * Tables or rows of RoPE, [positions × (queries | keys | values)]: factors of a number, and of its partner in the
 * other half.
 */
export type Rotation = { readonly cos: Tensor; readonly sin: Tensor };

/**
 * The tables for every position. Values get factor 1, and queries are also divided by √(head width), so that one
 * multiplication does it all.
 */
export function rotationTables(device: Device, shape: ModelShape): Rotation {
  const widths = widthsOf(shape);
  const half = widths.head / 2;
  const frequencies = ropeFrequencies(shape);
  const cos = new Float32Array(shape.context * widths.qkv);
  const sin = new Float32Array(cos.length);
  for (let position = 0; position < shape.context; position++) {
    for (let column = 0; column < widths.qkv; column++) {
      const j = column % widths.head;
      const isValue = column >= shape.width + widths.kv;
      const angle = isValue ? 0 : position * frequencies[j % half]!;
      const scale = column < shape.width ? 1 / Math.sqrt(widths.head) : 1;
      cos[position * widths.qkv + column] = scale * Math.cos(angle);
      sin[position * widths.qkv + column] = scale * Math.sin(angle) * (j < half ? -1 : 1);
    }
  }
  const table = (values: Float32Array) => device.tf.reshape(device.floats(values), [shape.context, widths.qkv]);
  return { cos: table(cos), sin: table(sin) };
}

/** The rows of some positions. */
export function rotationAt(device: Device, tables: Rotation, positions: Tensor): Rotation {
  return { cos: device.rows(tables.cos, positions), sin: device.rows(tables.sin, positions) };
}

/** @param qkv [rows × (queries | keys | values)]; @param headWidth of one head. */
export function rotate({ tf }: Device, qkv: Tensor, { cos, sin }: Rotation, headWidth: number): Tensor {
  return tf.add(tf.mul(qkv, cos), tf.mul(otherHalf(tf, qkv, headWidth), sin));
}

/** The derivative w.r.t. the rows, given that w.r.t. the rotated ones: the transpose of the above. */
export function rotateBackward({ tf }: Device, dRotated: Tensor, { cos, sin }: Rotation, headWidth: number): Tensor {
  return tf.add(tf.mul(dRotated, cos), otherHalf(tf, tf.mul(dRotated, sin), headWidth));
}

/** Swaps the halves of every head. */
function otherHalf(tf: Device['tf'], qkv: Tensor, headWidth: number): Tensor {
  return tf.reshape(tf.reverse(tf.reshape(qkv, [-1, 2, headWidth / 2]), 1), qkv.shape);
}
