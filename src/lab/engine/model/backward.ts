import { addProduct, multiply } from '../kernels/matrices.js';
import type { Segment } from './batch.js';
import { headBackward } from './head.js';
import type { LayerBuffers } from './layer.js';
import type { LayerParameters } from './parameters.js';
import type { Pass } from './training-buffers.js';

/**
 * Adds to the gradient, from the derivative by each target's log-probability and entropy. Reads the activations of the
 * forward pass and leaves them as they are, so it may be called again.
 */
export function runBackward(pass: Pass, dLogprob: Float32Array, dEntropy: Float32Array | null): void {
  const { model, batch, buffers } = pass;
  const { kernels, shape, parameters } = model;
  const rows = batch.tokens.length;
  headBackward(pass, dLogprob, dEntropy);
  kernels.zero(rows * shape.width, buffers.dx);
  kernels.scatterAddRows(batch.headRows.length, shape.width, buffers.headRowIds, buffers.dHeadX, buffers.dx);
  for (let index = shape.layers - 1; index >= 0; index--) {
    const layer = parameters.layers[index]!;
    feedForwardBackward(pass, layer, buffers.layers[index]!);
    attentionBackward(pass, layer, buffers.layers[index]!);
  }
  kernels.scatterAddRows(rows, shape.width, buffers.tokens, buffers.dx, parameters.embedding.gradient);
}

// In both halves of a layer `dx` is the derivative by what comes out and becomes that by what went in: the residual path
// leaves it as it is, and the norm's backward adds the rest.

function feedForwardBackward({ model, batch, buffers }: Pass, layer: LayerParameters, a: LayerBuffers): void {
  const { kernels, shape } = model;
  const { width, feedForward } = shape;
  const rows = batch.tokens.length;
  const { dx, dNormed, dActivated, dGateUp, product } = buffers;
  multiply(kernels, layer.down.backward, rows, dx, dActivated, 0);
  addProduct(kernels, rows, a.activated, feedForward, feedForward, dx, width, layer.down.gradient, product);
  kernels.swigluBackward(rows, feedForward, dActivated, a.gateUp, dGateUp);
  multiply(kernels, layer.gateUp.backward, rows, dGateUp, dNormed, 0);
  const { gradient } = layer.gateUp;
  addProduct(kernels, rows, a.middleNormed, width, width, dGateUp, 2 * feedForward, gradient, product);
  const { at, gradient: normGradient } = layer.mlpNorm;
  kernels.rmsNormBackward(rows, width, dNormed, a.middle, at, a.middleScale, dx, normGradient);
}

function attentionBackward(pass: Pass, layer: LayerParameters, a: LayerBuffers): void {
  const { model, batch, buffers } = pass;
  const { kernels, shape, widths, cos, sin } = model;
  const { width } = shape;
  const rows = batch.tokens.length;
  const { dx, dNormed, dQkv, product } = buffers;
  multiply(kernels, layer.output.backward, rows, dx, dNormed, 0);
  addProduct(kernels, rows, a.attended, width, width, dx, width, layer.output.gradient, product);
  kernels.zero(rows * widths.qkv, dQkv);
  for (const segment of batch.segments) segmentBackward(pass, segment, a);
  const rotated = shape.heads + shape.kvHeads;
  kernels.rope(rows, rotated, widths.head, dQkv, widths.qkv, buffers.positions, cos, sin, -1);
  multiply(kernels, layer.qkv.backward, rows, dQkv, dNormed, 0);
  addProduct(kernels, rows, a.normed, width, width, dQkv, widths.qkv, layer.qkv.gradient, product);
  const { at, gradient } = layer.attentionNorm;
  kernels.rmsNormBackward(rows, width, dNormed, a.x, at, a.normScale, dx, gradient);
}

/** `dNormed` holds the derivative by the attention's results here. */
function segmentBackward({ model, buffers }: Pass, segment: Segment, { qkv, p }: LayerBuffers): void {
  const { kernels, shape, widths, scoreScale } = model;
  const { heads, kvHeads, width } = shape;
  const row = widths.qkv;
  const own = segment.row * row * 4;
  const ownKeys = own + width * 4;
  const sharedKeys = (segment.sharedRow * row + width) * 4;
  kernels.attentionBackward(
    heads,
    kvHeads,
    widths.head,
    segment.rows,
    qkv + own,
    row,
    qkv + sharedKeys,
    segment.sharedRows,
    qkv + ownKeys,
    row,
    p + segment.p * 4,
    segment.pRow,
    buffers.dNormed + segment.row * width * 4,
    width,
    buffers.dQkv + own,
    buffers.dQkv + sharedKeys,
    buffers.dQkv + ownKeys,
    scoreScale,
    buffers.dP,
  );
}
