import type { ModelShape } from '../engine.js';
import type { Heap } from '../kernels/heap.js';
import type { Kernels } from '../kernels/kernels.js';
import { allocateAttentionShape, allocateRotation } from '../kernels/records.js';
import { widthsOf, type Widths } from '../model-shape.js';
import { ropeFrequencies } from '../rope.js';
import { paddedShape } from './padding.js';
import { Parameters } from './parameters.js';

/** The state that every pass over the model needs. */
export type Model = {
  /** The padded shape (`paddedShape`). */
  readonly shape: ModelShape;
  readonly widths: Widths;
  readonly kernels: Kernels;
  readonly parameters: Parameters;
  /** Records of the kernels: rotation of queries and keys, and attention over rows of `qkv` or over cached keys. */
  readonly rotation: number;
  readonly attention: number;
  readonly cachedAttention: number;
};

/** Lays out a model on the kernels' heap. All weights are zero. */
export function buildModel(kernels: Kernels, given: ModelShape): Model {
  const shape = paddedShape(given);
  const { heap } = kernels;
  const widths = widthsOf(shape);
  const parameters = new Parameters(kernels, shape);
  const { heads, kvHeads, width } = shape;
  const common = { heads, kvHeads, headWidth: widths.head, qRow: widths.qkv, outRow: width };
  const scale = 1 / Math.sqrt(widths.head);
  return {
    shape,
    widths,
    kernels,
    parameters,
    rotation: rotationOf(shape, heap),
    attention: allocateAttentionShape(heap, { ...common, kvRow: widths.qkv, scale }),
    cachedAttention: allocateAttentionShape(heap, { ...common, kvRow: 2 * widths.kv, scale }),
  };
}

/** Queries and keys are rotated, values are not. */
function rotationOf(shape: ModelShape, heap: Heap): number {
  const { head: headWidth, qkv: row } = widthsOf(shape);
  const half = headWidth / 2;
  const frequencies = ropeFrequencies(shape);
  const cos = heap.allocate(shape.context * half);
  const sin = heap.allocate(shape.context * half);
  for (let position = 0; position < shape.context; position++) {
    for (let j = 0; j < half; j++) {
      const angle = position * frequencies[j]!;
      heap.f32[cos / 4 + position * half + j] = Math.cos(angle);
      heap.f32[sin / 4 + position * half + j] = Math.sin(angle);
    }
  }
  return allocateRotation(heap, { heads: shape.heads + shape.kvHeads, headWidth, row, cos, sin });
}
