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

/**
 * Runs one transformer layer forward on `rows` tokens.
 *
 * @param positions Address of one i32 per row.
 * @param attend Fills `attended` from `qkv`; it knows which rows see which.
 */
export function runLayer(
  model: Model,
  index: number,
  { rows, positions, buffers }: { rows: number; positions: number; buffers: LayerBuffers },
  attend: (index: number) => void,
): void {
  const { kernels, shape, parameters } = model;
  const { width, normEpsilon } = shape;
  const layer = parameters.layers[index]!;
  const b = buffers;
  kernels.rmsNorm(rows, width, b.x, layer.attentionNorm.at, b.normed, b.normScale, normEpsilon);
  if (layer.qkvBias !== null) repeatRow(kernels.heap, layer.qkvBias.at, { rows, columns: model.widths.qkv, to: b.qkv });
  multiply(kernels, layer.qkv.forward, rows, b.normed, b.qkv, layer.qkvBias === null ? 0 : 1);
  kernels.rope(model.rotation, rows, b.qkv, positions, 1);
  attend(index);
  if (b.middle !== b.x) kernels.copy(rows * width, b.x, b.middle);
  multiply(kernels, layer.output.forward, rows, b.attended, b.middle, 1);
  kernels.rmsNorm(rows, width, b.middle, layer.mlpNorm.at, b.middleNormed, b.middleScale, normEpsilon);
  multiply(kernels, layer.gateUp.forward, rows, b.middleNormed, b.gateUp, 0);
  kernels.swiglu(rows, shape.feedForward, b.gateUp, b.activated);
  if (b.next !== b.middle) kernels.copy(rows * width, b.middle, b.next);
  multiply(kernels, layer.down.forward, rows, b.activated, b.next, 1);
}

/** Fills rows with copies of one row, to which a product is then added. */
function repeatRow(
  { f32 }: Heap,
  row: number,
  { rows, columns, to }: { rows: number; columns: number; to: number },
): void {
  for (let at = 0; at < rows; at++) f32.copyWithin(to / 4 + at * columns, row / 4, row / 4 + columns);
}
