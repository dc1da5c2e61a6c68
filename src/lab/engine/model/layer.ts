import type { Heap } from '../kernels/heap.js';
import { multiply } from '../kernels/matrices.js';
import type { Model } from './model.js';

/** Addresses of one layer's activations, one row per token. In inference several may be the same. */
export type LayerBuffers = {
  /** Input, [rows × width]. */
  readonly x: number;
  readonly normed: number;
  readonly normScale: number;
  /** [rows × (queries | keys | values)], queries and keys already rotated. */
  readonly qkv: number;
  /** Attention probabilities. */
  readonly p: number;
  readonly attended: number;
  /** x + attention. */
  readonly middle: number;
  readonly middleNormed: number;
  readonly middleScale: number;
  /** [rows × (gate | up)] */
  readonly gateUp: number;
  readonly activated: number;
  /** middle + feed-forward: the output. */
  readonly next: number;
};

/** Runs one transformer layer forward on `rows` tokens. @param attend Fills `attended` from `qkv`; it knows which rows see which. */
export function runLayer(model: Model, index: number, block: LayerRows, attend: (index: number) => void): void {
  beforeAttention(model, index, block);
  attend(index);
  afterAttention(model, index, block);
}

/** Rows of a layer. `positions`: address of one i32 per row. */
type LayerRows = { readonly rows: number; readonly positions: number; readonly buffers: LayerBuffers };

export function beforeAttention(model: Model, index: number, { rows, positions, buffers: b }: LayerRows): void {
  const { kernels, shape, parameters } = model;
  const { attentionNorm, qkv, qkvBias } = parameters.layers[index]!;
  kernels.rmsNorm(rows, shape.width, b.x, attentionNorm.at, b.normed, b.normScale, shape.normEpsilon);
  if (qkvBias !== null) repeatRow(kernels.heap, qkvBias.at, { rows, columns: model.widths.qkv, to: b.qkv });
  multiply(kernels, qkv.forward, rows, b.normed, b.qkv, qkvBias === null ? 0 : 1);
  kernels.rope(model.rotation, rows, b.qkv, positions, 1);
}

export function afterAttention(model: Model, index: number, { rows, buffers: b }: Omit<LayerRows, 'positions'>): void {
  const { kernels, shape, parameters } = model;
  const { width, normEpsilon } = shape;
  const layer = parameters.layers[index]!;
  if (b.middle !== b.x) kernels.copy(rows * width, b.x, b.middle);
  multiply(kernels, layer.output.forward, rows, b.attended, b.middle, 1);
  kernels.rmsNorm(rows, width, b.middle, layer.mlpNorm.at, b.middleNormed, b.middleScale, normEpsilon);
  multiply(kernels, layer.gateUp.forward, rows, b.middleNormed, b.gateUp, 0);
  kernels.swiglu(rows, shape.feedForward, b.gateUp, b.activated);
  if (b.next !== b.middle) kernels.copy(rows * width, b.middle, b.next);
  multiply(kernels, layer.down.forward, rows, b.activated, b.next, 1);
}

/** The same buffers from that row on; probabilities, which have places of their own, stay. */
export function fromRow({ shape, widths }: Model, layer: LayerBuffers, row: number): LayerBuffers {
  if (row === 0) return layer;
  const skip = row * 4;
  const { width, feedForward } = shape;
  return {
    x: layer.x + skip * width,
    normed: layer.normed + skip * width,
    normScale: layer.normScale + skip,
    qkv: layer.qkv + skip * widths.qkv,
    p: layer.p,
    attended: layer.attended + skip * width,
    middle: layer.middle + skip * width,
    middleNormed: layer.middleNormed + skip * width,
    middleScale: layer.middleScale + skip,
    gateUp: layer.gateUp + skip * 2 * feedForward,
    activated: layer.activated + skip * feedForward,
    next: layer.next + skip * width,
  };
}

/** Fills rows with copies of one row, to which a product is then added. */
function repeatRow(
  { f32 }: Heap,
  row: number,
  { rows, columns, to }: { rows: number; columns: number; to: number },
): void {
  for (let at = 0; at < rows; at++) f32.copyWithin(to / 4 + at * columns, row / 4, row / 4 + columns);
}
