import type { AdamOptions, ModelShape, ParameterGroup } from '../engine.js';
import { layout, type Tensor as LayoutTensor } from '../layout.js';
import { checkOptions, groupsByTensor } from '../model/optimizer.js';
import type { Device, Tensor } from './device.js';
import type { Parameters } from './parameters.js';

/** Added to a norm before dividing by it, as PyTorch's `clip_grad_norm_` does. */
const CLIP_EPSILON = 1e-6;

/** Learning rate and decay of each weight, and 0 where it is frozen, else 1. null when all weights have the same. */
type Rates = { readonly learningRate: Tensor; readonly decay: Tensor; readonly isFree: Tensor } | null;

/**
 * Takes one step of Adam (bias-corrected, Kingma & Ba 2015) or AdamW on the accumulated gradient, which is then
 * cleared.
 *
 * @returns The gradient's L2 norm before clipping, frozen tensors left out.
 */
export function adamStep(device: Device, shape: ModelShape, parameters: Parameters, options: AdamOptions): Tensor {
  checkOptions(options);
  const { tf } = device;
  const { learningRate, beta1, beta2, epsilon } = options;
  const rates = ratesOf(device, shape, options);
  const all = parameters.gradient ?? tf.zeros([parameters.count]);
  const gradient = rates === null ? all : tf.mul(all, rates.isFree);
  const norm = tf.sqrt(sumSquares(tf, gradient));
  const clipped = clip(tf, gradient, norm, options.clipNorm);
  parameters.step++;
  const correction1 = 1 - beta1 ** parameters.step;
  const correction2 = Math.sqrt(1 - beta2 ** parameters.step);
  // 1 − β is computed in double precision: 1 − 0.999 in single precision is off by 1e-5.
  const m = towards(tf, parameters.get('m'), clipped, share(tf, rates, 1 - beta1));
  const v = towards(tf, parameters.get('v'), tf.square(clipped), share(tf, rates, 1 - beta2));
  const direction = tf.mul(tf.div(m, tf.add(tf.sqrt(v), epsilon * correction2)), correction2 / correction1);
  const weights = parameters.get('weights');
  const decayed = rates === null ? weights : tf.sub(weights, tf.mul(weights, rates.decay));
  parameters.put('weights', tf.sub(decayed, tf.mul(direction, rates?.learningRate ?? learningRate)));
  parameters.put('m', m);
  parameters.put('v', v);
  parameters.clearGradient();
  return norm;
}

function clip(tf: Device['tf'], gradient: Tensor, norm: Tensor, most: number | undefined): Tensor {
  if (most === undefined) return gradient;
  const length = tf.add(norm, CLIP_EPSILON);
  return tf.mul(gradient, tf.where(tf.less(length, most), tf.onesLike(length), tf.div(most, length)));
}

function share(tf: Device['tf'], rates: Rates, value: number): Tensor {
  return rates === null ? tf.scalar(value) : tf.mul(rates.isFree, value);
}

/** Moves the fraction `part` of the way from one tensor to another. */
function towards(tf: Device['tf'], from: Tensor, to: Tensor, part: Tensor): Tensor {
  return tf.add(from, tf.mul(tf.sub(to, from), part));
}

/** Sums in two stages: a long running sum in single precision would lose small terms. */
function sumSquares(tf: Device['tf'], flat: Tensor): Tensor {
  const row = 256;
  const padded = tf.pad(tf.square(flat), [[0, -flat.size & (row - 1)]]);
  return tf.sum(tf.sum(tf.reshape(padded, [-1, row]), 1));
}

function ratesOf(device: Device, shape: ModelShape, { learningRate, weightDecay = 0, groups }: AdamOptions): Rates {
  if (groups === undefined && weightDecay === 0) return null;
  const rates = flatRates(shape, groups ?? [], { learningRate, weightDecay });
  return {
    learningRate: device.floats(rates.learningRate),
    decay: device.floats(rates.decay),
    isFree: device.floats(rates.isFree),
  };
}

function flatRates(
  shape: ModelShape,
  groups: readonly ParameterGroup[],
  common: { learningRate: number; weightDecay: number },
) {
  const tensors = layout(shape);
  const groupOf = groupsByTensor(tensors, groups);
  const count = tensors.reduce((sum, { shape: [rows, columns = 1] }) => sum + rows * columns, 0);
  const [learningRate, decay, isFree] = [new Float32Array(count), new Float32Array(count), new Float32Array(count)];
  for (const tensor of tensors) {
    const standard = { learningRate: common.learningRate, weightDecay: isNorm(tensor) ? 0 : common.weightDecay };
    const { learningRate: rate, weightDecay, frozen } = { ...standard, ...groups[groupOf.get(tensor.name) ?? -1] };
    if (frozen === true) continue;
    for (const at of placesOf(tensor)) [learningRate[at], decay[at], isFree[at]] = [rate, rate * weightDecay, 1];
  }
  return { learningRate, decay, isFree };
}

function isNorm({ shape }: LayoutTensor): boolean {
  return shape.length === 1;
}

/** Positions of a tensor's elements in the flat vector. */
function* placesOf({
  shape: [rows, columns = 1],
  offset,
  strides: [row, column = 0],
}: LayoutTensor): Generator<number> {
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) yield offset + i * row + j * column;
}
