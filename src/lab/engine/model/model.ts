import type { ModelShape } from '../engine.js';
import type { Heap } from '../kernels/heap.js';
import type { Kernels } from '../kernels/kernels.js';
import { columnPanels, pack, type Panels, rowPanels } from '../kernels/matrices.js';
import { allocateAttentionShape, allocateOuterProduct, allocateRotation } from '../kernels/records.js';
import { offsetsOf } from '../layout.js';
import { type Widths, widthsOf } from '../model-shape.js';
import { ropeFrequencies } from '../rope.js';
import { paddedShape } from './padding.js';
import { atOnce, type Steps } from './steps.js';

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

/**
 * A weight matrix: panels to multiply by it (forward) and by its transpose (backward), the address of its gradient,
 * and the record of the products that are added to it.
 */
type Matrix = {
  readonly forward: Panels;
  readonly backward: Panels;
  readonly gradient: number;
  readonly outer: number;
};

/** A vector of norm weights, or of biases. */
type Vector = { readonly at: number; readonly gradient: number };

type LayerParameters = {
  readonly attentionNorm: Vector;
  readonly qkv: Matrix;
  /** null when queries, keys and values have none. */
  readonly qkvBias: Vector | null;
  readonly output: Matrix;
  readonly mlpNorm: Vector;
  readonly gateUp: Matrix;
  readonly down: Matrix;
};

/**
 * The weights on the heap, flat, with gradient and Adam moments beside them, and the packed copies that `gemm` reads.
 *
 * Call `changed` after changing the weights, and `packForward` or `packBackward` before multiplying.
 */
class Parameters {
  /** Numbers in each of the flat vectors, padding included. */
  readonly count: number;
  readonly weights: number;
  readonly gradient: number;
  readonly m: number;
  readonly v: number;
  readonly embedding: Vector;
  readonly layers: readonly LayerParameters[];
  readonly finalNorm: Vector;
  readonly head: Matrix;
  /** Counts changes of the weights. */
  version = 0;

  readonly #kernels: Kernels;
  #scratch: number | null = null;
  #forwardVersion = -1;
  #backwardVersion = -1;

  constructor(kernels: Kernels, shape: ModelShape) {
    const offsets = offsetsOf(shape);
    const { heap } = kernels;
    this.#kernels = kernels;
    this.count = offsets.size;
    this.weights = heap.allocate(offsets.size);
    this.gradient = heap.allocate(offsets.size);
    this.m = heap.allocate(offsets.size);
    this.v = heap.allocate(offsets.size);
    const { width, vocabulary, feedForward } = shape;
    const { qkv, scores } = widthsOf(shape);
    this.embedding = this.#vector(offsets.embedding);
    this.layers = offsets.layers.map((layer) => ({
      attentionNorm: this.#vector(layer.attentionNorm),
      qkv: this.#matrix(layer.qkv, width, qkv),
      qkvBias: layer.qkvBias === null ? null : this.#vector(layer.qkvBias),
      output: this.#matrix(layer.output, width, width),
      mlpNorm: this.#vector(layer.mlpNorm),
      gateUp: this.#matrix(layer.gateUp, width, 2 * feedForward),
      down: this.#matrix(layer.down, feedForward, width),
    }));
    this.finalNorm = this.#vector(offsets.finalNorm);
    const head = this.#vector(offsets.head);
    this.head = {
      forward: columnPanels(kernels, width, vocabulary, head.at),
      backward: rowPanels(kernels, vocabulary, width, head.at, scores),
      gradient: head.gradient,
      outer: allocateOuterProduct(heap, { leftWidth: vocabulary, leftRow: scores, rightWidth: width }),
    };
  }

  /** Address of a scratch vector as long as the weights. Padding is zero; the other numbers are undefined. */
  scratch(): number {
    return (this.#scratch ??= this.#kernels.heap.allocate(this.count));
  }

  changed(): void {
    this.version++;
  }

  readyForward(): void {
    if (this.#forwardVersion !== this.version) atOnce(this.packForward());
  }

  *packForward(): Steps<void> {
    if (this.#forwardVersion === this.version) return;
    for (const { qkv, output, gateUp, down } of this.layers) {
      pack(this.#kernels, qkv.forward);
      pack(this.#kernels, output.forward);
      pack(this.#kernels, gateUp.forward);
      pack(this.#kernels, down.forward);
      yield;
    }
    pack(this.#kernels, this.head.forward);
    this.#forwardVersion = this.version;
  }

  *packBackward(): Steps<void> {
    if (this.#backwardVersion === this.version) return;
    for (const { qkv, output, gateUp, down } of this.layers) {
      pack(this.#kernels, qkv.backward);
      pack(this.#kernels, output.backward);
      pack(this.#kernels, gateUp.backward);
      pack(this.#kernels, down.backward);
      yield;
    }
    pack(this.#kernels, this.head.backward);
    this.#backwardVersion = this.version;
  }

  #vector(offset: number): Vector {
    return { at: this.weights + offset * 4, gradient: this.gradient + offset * 4 };
  }

  #matrix(offset: number, inputs: number, outputs: number): Matrix {
    const { at, gradient } = this.#vector(offset);
    return {
      forward: rowPanels(this.#kernels, inputs, outputs, at),
      backward: columnPanels(this.#kernels, outputs, inputs, at),
      gradient,
      outer: allocateOuterProduct(this.#kernels.heap, { leftWidth: inputs, leftRow: inputs, rightWidth: outputs }),
    };
  }
}
