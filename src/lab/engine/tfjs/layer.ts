import type { ModelShape } from '../engine.js';
import { attention, attentionBackward, type AttentionTables, type GradientTables } from './attention.js';
import type { Device, Tensor } from './device.js';
import { rmsNorm, rmsNormBackward, type Normed } from './norm.js';
import type { LayerWeights } from './parameters.js';
import { rotate, rotateBackward, type Rotation } from './rotation.js';

/** State that all layers of a pass share. */
type LayerContext = {
  readonly device: Device;
  readonly shape: ModelShape;
  readonly rotation: Rotation;
  readonly tables: AttentionTables;
};

/** Activations of a layer's forward pass that `layerBackward` needs; one row per token. */
export type LayerActivations = {
  readonly normed: Normed;
  readonly attended: ReturnType<typeof attention>['attended'];
  /** The attention's results side by side. */
  readonly result: Tensor;
  readonly middleNormed: Normed;
  readonly gate: Tensor;
  readonly up: Tensor;
  readonly sigmoid: Tensor;
  readonly activated: Tensor;
};

/**
 * Runs one transformer layer forward.
 *
 * @param keysOf Maps the new rows to the rows that queries attend to: the new rows themselves, or a cache that
 * includes them.
 */
export function layerForward(
  context: LayerContext,
  weights: LayerWeights,
  x: Tensor,
  keysOf: (rotated: Tensor) => Tensor,
): { next: Tensor; activations: LayerActivations } {
  const { device, shape, rotation, tables } = context;
  const { tf } = device;
  const normed = rmsNorm(device, x, weights.attentionNorm, shape.normEpsilon);
  const product = device.product(normed.result, weights.qkv);
  const qkv = weights.qkvBias === null ? product : tf.add(product, weights.qkvBias);
  const rows = rotate(device, qkv, rotation, shape.width / shape.heads);
  const { result, attended } = attention(device, shape, tables, { rows, keys: keysOf(rows) });
  const middle = tf.add(x, device.product(result, weights.output));
  const middleNormed = rmsNorm(device, middle, weights.mlpNorm, shape.normEpsilon);
  const [gate, up] = tf.split(device.product(middleNormed.result, weights.gateUp), 2, 1) as [Tensor, Tensor];
  const sigmoid = tf.sigmoid(gate);
  const activated = tf.mul(tf.mul(gate, sigmoid), up);
  const next = tf.add(middle, device.product(activated, weights.down));
  return { next, activations: { normed, attended, result, middleNormed, gate, up, sigmoid, activated } };
}

/** Derivatives w.r.t. the layer's input and weights, given that w.r.t. its output. */
export function layerBackward(
  context: LayerContext & { readonly gradientTables: GradientTables },
  weights: LayerWeights,
  a: LayerActivations,
  dNext: Tensor,
): { dX: Tensor; gradient: LayerWeights } {
  const { device } = context;
  const mlp = mlpBackward(device, weights, a, dNext);
  const dMiddle = device.tf.add(dNext, mlp.dMiddle);
  const attentionPart = attentionHalfBackward(context, weights, a, dMiddle);
  return {
    dX: device.tf.add(dMiddle, attentionPart.dX),
    gradient: { ...attentionPart.gradient, ...mlp.gradient },
  };
}

function mlpBackward(device: Device, weights: LayerWeights, a: LayerActivations, dNext: Tensor) {
  const { tf } = device;
  const dActivated = device.productByTransposed(dNext, weights.down);
  const dSilu = tf.mul(dActivated, a.up);
  const silu = tf.mul(a.gate, a.sigmoid);
  // silu′ = σ + silu·(1 − σ)
  const dGate = tf.mul(dSilu, tf.add(a.sigmoid, tf.mul(silu, tf.sub(1, a.sigmoid))));
  const dGateUp = tf.concat([dGate, tf.mul(dActivated, silu)], 1);
  const dNormed = device.productByTransposed(dGateUp, weights.gateUp);
  const { dX: dMiddle, dWeight: mlpNorm } = rmsNormBackward(device, dNormed, a.middleNormed, weights.mlpNorm);
  const gradient = {
    mlpNorm,
    gateUp: device.transposedProduct(a.middleNormed.result, dGateUp),
    down: device.transposedProduct(a.activated, dNext),
  };
  return { dMiddle, gradient };
}

function attentionHalfBackward(
  { device, shape, rotation, tables, gradientTables }: Parameters<typeof layerBackward>[0],
  weights: LayerWeights,
  a: LayerActivations,
  dMiddle: Tensor,
) {
  const dResult = device.productByTransposed(dMiddle, weights.output);
  const both = { forward: tables, backward: gradientTables };
  const dRotated = attentionBackward(device, shape, both, { dResult, attended: a.attended });
  const dQkv = rotateBackward(device, dRotated, rotation, shape.width / shape.heads);
  const dNormed = device.productByTransposed(dQkv, weights.qkv);
  const { dX, dWeight: attentionNorm } = rmsNormBackward(device, dNormed, a.normed, weights.attentionNorm);
  const gradient = {
    attentionNorm,
    qkv: device.transposedProduct(a.normed.result, dQkv),
    qkvBias: weights.qkvBias === null ? null : device.tf.sum(dQkv, 0),
    output: device.transposedProduct(a.result, dMiddle),
  };
  return { dX, gradient };
}
