import type { AdamOptions } from '../engine.js';
import type { Device, Tensor } from './device.js';
import type { Parameters } from './parameters.js';

/** One Adam step on the accumulated gradient (bias-corrected, Kingma & Ba 2015), which is then cleared. @returns Its L2 norm. */
export function adamStep(device: Device, parameters: Parameters, options: AdamOptions): Tensor {
  const { tf } = device;
  const { learningRate, beta1, beta2, epsilon } = options;
  const gradient = parameters.gradient ?? tf.zeros([parameters.count]);
  const norm = tf.sqrt(sumSquares(tf, gradient));
  parameters.step++;
  const correction1 = 1 - beta1 ** parameters.step;
  const correction2 = Math.sqrt(1 - beta2 ** parameters.step);
  // The shares of the new are taken in double precision: 1 − 0.999 in single precision is off by 1e-5.
  const m = towards(tf, parameters.get('m'), gradient, 1 - beta1);
  const v = towards(tf, parameters.get('v'), tf.square(gradient), 1 - beta2);
  const direction = tf.div(m, tf.add(tf.sqrt(v), epsilon * correction2));
  const step = tf.mul(direction, (learningRate * correction2) / correction1);
  parameters.put('weights', tf.sub(parameters.get('weights'), step));
  parameters.put('m', m);
  parameters.put('v', v);
  parameters.clearGradient();
  return norm;
}

/** In two stages: a long running sum in single precision would lose what is small beside it. */
function sumSquares(tf: Device['tf'], flat: Tensor): Tensor {
  const row = 256;
  const padded = tf.pad(tf.square(flat), [[0, -flat.size & (row - 1)]]);
  return tf.sum(tf.sum(tf.reshape(padded, [-1, row]), 1));
}

/** A share of the way from one tensor to another. */
function towards(tf: Device['tf'], from: Tensor, to: Tensor, share: number): Tensor {
  return tf.add(from, tf.mul(tf.sub(to, from), share));
}
