import type { Floats, ModelShape } from '../engine.js';
import type { Kernels } from '../kernels/kernels.js';
import { allocateProduct } from '../kernels/records.js';
import { offsetsOf } from '../layout.js';
import { paddedShape, stretches, type Stretch } from '../model/padding.js';
import { atOnce, type Steps } from '../model/steps.js';
import { strengthOf, type AdapterConfig } from './config.js';
import { UserError } from '../../../base/user-error.js';
import { adapterLayout, computedShape, mergedShape, rowStretches, type Block, type Neurons } from './layout.js';

/** A block's records on the heap: three products, none of which packs a matrix of the model. */
type Factors = Block & {
  /** c·Bᵀ, [rank × bRow], and its panels. */
  readonly right: number;
  readonly panels: number;
  /** W += Aᵀ · c·Bᵀ. */
  readonly change: number;
  /** A · dW, [rank × bRow]. */
  readonly toB: number;
  /** dW · c·B, [inputs × ranks filled up]. */
  readonly toA: number;
};

/** A model without adapters: weights as `layout(shape)` orders them. */
export type PlainModel = { readonly shape: ModelShape; readonly weights: Float32Array };

/** A frozen model and the configuration of its adapters. */
export type Adaptation = PlainModel & { readonly adapters: AdapterConfig };

/** Factor c = s · alpha/rank of each adapter's output, by the adapter's index. */
export type Strengths = readonly number[];

/**
 * Adapters merged into the weights, W + Σ c·B·A, and the derivative w.r.t. the merged weights passed on to the adapters:
 * dB = c · dW Aᵀ and dA = c · Bᵀ dW. Neurons of adapters are further neurons of the layer. So every pass is that of a
 * plain model, whichever engine computes it; adapters cost time once for each change of the weights.
 *
 * The alternative, products of low rank beside W in every pass, saves dW, and costs two more products for each matrix
 * and decoded token, and a second path through every engine. Measured (one core, busy machine): with 1.25M parameters
 * and 4,000 rows its gain is 2 to 5 % of a step up to rank 8, and a loss at rank 32. In the memory game, whose step
 * takes a millisecond, it would gain more: there a step takes 1.1 times that of full training at rank 1, and 1.3 times
 * at rank 8.
 */
export class Merging {
  /** Numbers of the adapters' parameters on the heap, padding of rows included, and their addresses. */
  readonly count: number;
  readonly parameters: number;
  readonly gradient: number;
  readonly #kernels: Kernels;
  readonly #shape: ModelShape;
  readonly #adapters: AdapterConfig;
  /** Length of the parameters without padding, as `adapterLayout` orders them. */
  readonly #length: number;
  /** Maps of the parameters to the heap, and of the frozen weights to the computed weights. */
  readonly #own: readonly Stretch[];
  readonly #frozen: readonly Stretch[];
  /** The frozen weights in the computed shape. */
  readonly #base: number;
  readonly #baseCount: number;
  readonly #computed: ModelShape;
  readonly #factors: readonly Factors[];
  readonly #neurons: readonly Neurons[];
  readonly #merged: number;
  /** The derivative w.r.t. the merged weights. */
  readonly #dense: number;
  /** Room for a product. */
  readonly #result: number;

  /** All parameters are zero. @param kernels A fresh set, used by no other engine. */
  constructor(kernels: Kernels, { shape, weights, adapters }: Adaptation) {
    const { heap } = kernels;
    const { blocks, neurons, size, tensors } = adapterLayout(shape, adapters, paddedShape(shape));
    const plain = adapterLayout(shape, adapters);
    this.#kernels = kernels;
    this.#shape = shape;
    this.#adapters = adapters;
    this.#computed = computedShape(shape, adapters);
    this.#length = plain.size;
    this.#own = rowStretches(plain.tensors, tensors);
    this.#frozen = frozenStretches(shape, this.#computed);
    this.#neurons = neurons;
    this.count = size;
    this.parameters = heap.allocate(size);
    this.gradient = heap.allocate(size);
    this.#baseCount = offsetsOf(this.#computed).size;
    this.#base = heap.allocate(this.#baseCount);
    this.#merged = heap.allocate(this.#baseCount);
    this.#dense = heap.allocate(this.#baseCount);
    this.#factors = blocks.map((block) => this.#factorsOf(block));
    const results = blocks.map(({ rank, bRow, inputs }) => Math.max(rank * bRow, inputs * paddedLength(rank)));
    this.#result = heap.allocate(Math.max(0, ...results));
    this.#put('weights', weights, { at: this.#base, parts: this.#frozen, length: offsetsOf(shape).size });
  }

  /** The numbers at this address that are parameters (or gradient, or moments), without the padding of rows. */
  read(at: number, into?: Float32Array): Float32Array {
    return this.#get({ at, parts: this.#own }, into ?? this.#kernels.heap.floats(this.#length));
  }

  /** @param name For the message when there are more or fewer numbers than parameters. */
  write(name: string, values: Floats, at: number): void {
    this.#put(name, values, { at, parts: this.#own, length: this.#length });
  }

  /** A copy of the frozen weights. */
  frozen(): Float32Array {
    return this.#get({ at: this.#base, parts: this.#frozen }, this.#kernels.heap.floats(offsetsOf(this.#shape).size));
  }

  /** The frozen model with the adapters merged. Adapters with neurons make it wider. */
  plain(strengths: Strengths): PlainModel {
    const shape = mergedShape(this.#shape, this.#adapters);
    const computed = atOnce(this.merged(strengths));
    const weights = new Float32Array(offsetsOf(shape).size);
    for (const { from, to, count } of stretches(shape)) weights.set(computed.subarray(to, to + count), from);
    return { shape, weights };
  }

  /** The merged weights: a view of the heap, which the next call overwrites. */
  *merged(strengths: Strengths): Steps<Float32Array> {
    const kernels = this.#kernels;
    kernels.copy(this.#baseCount, this.#base, this.#merged);
    for (const factors of this.#factors) {
      const { change, a, inputs, adapter, matrix } = factors;
      this.#scale(factors, strengths[adapter]!);
      kernels.gemm(change, inputs, this.parameters + a * 4, this.#merged + matrix * 4, 1);
      yield;
    }
    for (const neurons of this.#neurons) this.#place(neurons, strengths[neurons.adapter]!);
    const { f32 } = kernels.heap;
    return f32.subarray(this.#merged / 4, this.#merged / 4 + this.#baseCount);
  }

  /** View of the heap to which the caller writes the derivative w.r.t. the merged weights. */
  get dense(): Float32Array {
    return this.#kernels.heap.f32.subarray(this.#dense / 4, this.#dense / 4 + this.#baseCount);
  }

  /**
   * Adds the derivative in `dense` to the adapters' gradient.
   *
   * @param strengths Those of the last call of `merged`, with whose weights the derivative was computed.
   * @param isTrained Whether the adapter of this index is trained.
   */
  *addGradient(strengths: Strengths, isTrained: (adapter: number) => boolean): Steps<void> {
    for (const factors of this.#factors) {
      if (isTrained(factors.adapter)) this.#addFactors(factors, strengths[factors.adapter]!);
      yield;
    }
    for (const neurons of this.#neurons) {
      if (isTrained(neurons.adapter)) this.#addNeurons(neurons, strengths[neurons.adapter]!);
    }
  }

  #factorsOf(block: Block): Factors {
    const { heap } = this.#kernels;
    const { rank, inputs, outputs, aRow, bRow, matrix, matrixRow } = block;
    const right = heap.allocate(rank * bRow);
    const panels = heap.allocate(outputs * Math.ceil(rank / 8) * 8);
    const dense = this.#dense + matrix * 4;
    const rightPanels = { b: right, bRow, bPanel: 8 };
    const densePanels = { b: dense, bRow: matrixRow, bPanel: 8 };
    const transposed = { b: panels, bRow: 8, bPanel: 8 * outputs };
    return {
      ...block,
      right,
      panels,
      change: allocateProduct(heap, {
        columns: bRow,
        depth: rank,
        aRow: 1,
        aDepth: aRow,
        cRow: matrixRow,
        ...rightPanels,
      }),
      toB: allocateProduct(heap, { columns: bRow, depth: inputs, aRow, aDepth: 1, cRow: bRow, ...densePanels }),
      toA: allocateProduct(heap, {
        ...transposed,
        columns: paddedLength(rank),
        depth: outputs,
        aRow: matrixRow,
        aDepth: 1,
        cRow: paddedLength(rank),
      }),
    };
  }

  #get({ at, parts }: Pick<HeapVector, 'at' | 'parts'>, values: Float32Array): Float32Array {
    const memory = this.#kernels.heap.f32.subarray(at / 4);
    for (const { from, to, count } of parts) values.set(memory.subarray(to, to + count), from);
    return values;
  }

  #put(name: string, values: Floats, { at, parts, length }: HeapVector): void {
    if (values.length !== length) {
      throw new UserError(
        `\`${name}\` has ${values.length} numbers where ${length} are needed.`,
        'Use the checkpoint of a model of the same shape with the same adapters.',
      );
    }
    const memory = this.#kernels.heap.f32.subarray(at / 4);
    for (const { from, to, count } of parts) memory.set(values.subarray(from, from + count), to);
  }

  #scale({ rank, b, bRow, right }: Factors, strength: number): void {
    const { f32 } = this.#kernels.heap;
    const from = this.parameters / 4 + b;
    for (let i = 0; i < rank * bRow; i++) f32[right / 4 + i] = strength * f32[from + i]!;
  }

  #addFactors({ rank, inputs, outputs, a, aRow, b, bRow, ...records }: Factors, strength: number): void {
    const kernels = this.#kernels;
    const { f32 } = kernels.heap;
    const result = this.#result / 4;
    kernels.gemm(records.toB, rank, this.parameters + a * 4, this.#result, 0);
    // The padding of a row takes no part in the model, whatever lies beside the projection.
    for (let k = 0; k < rank; k++) f32.fill(0, result + k * bRow + outputs, result + (k + 1) * bRow);
    kernels.addScaled(rank * bRow, strength, this.#result, this.gradient + b * 4);
    kernels.packColumns(outputs, rank, records.right, bRow, records.panels);
    kernels.gemm(records.toA, inputs, this.#dense + records.matrix * 4, this.#result, 0);
    const stride = paddedLength(rank);
    for (let k = 0; k < rank; k++) {
      const to = this.gradient / 4 + a + k * aRow;
      for (let i = 0; i < inputs; i++) f32[to + i]! += f32[result + i * stride + k]!;
    }
  }

  #place(neurons: Neurons, strength: number): void {
    const { f32 } = this.#kernels.heap;
    const parameters = this.parameters / 4;
    this.#forEachWeight(neurons, (own, gate, up, down) => {
      f32[this.#merged / 4 + gate] = f32[parameters + neurons.gate + own]!;
      f32[this.#merged / 4 + up] = f32[parameters + neurons.up + own]!;
      f32[this.#merged / 4 + down] = strength * f32[parameters + neurons.down + own]!;
    });
  }

  #addNeurons(neurons: Neurons, strength: number): void {
    const { f32 } = this.#kernels.heap;
    const [gradient, dense] = [this.gradient / 4, this.#dense / 4];
    this.#forEachWeight(neurons, (own, gate, up, down) => {
      f32[gradient + neurons.gate + own]! += f32[dense + gate]!;
      f32[gradient + neurons.up + own]! += f32[dense + up]!;
      f32[gradient + neurons.down + own]! += strength * f32[dense + down]!;
    });
  }

  /**
   * Calls back with the offset of each of the neurons' weights among the parameters, and in the layer's two matrices.
   */
  #forEachWeight(
    { layer, first, count }: Neurons,
    visit: (own: number, gate: number, up: number, down: number) => void,
  ): void {
    const { width, feedForward } = this.#computed;
    const { gateUp, down } = offsetsOf(this.#computed).layers[layer]!;
    for (let n = 0; n < count; n++) {
      for (let i = 0; i < width; i++) {
        const gate = gateUp + i * 2 * feedForward + first + n;
        visit(n * width + i, gate, gate + feedForward, down + (first + n) * width + i);
      }
    }
  }
}

/** An adapted head starts as a copy of the embedding to which it was tied. */
function frozenStretches(shape: ModelShape, computed: ModelShape): Stretch[] {
  const all = stretches(shape, computed);
  if (shape.tied === computed.tied) return all;
  const count = shape.vocabulary * shape.width;
  return [...all, { from: offsetsOf(shape).embedding, to: offsetsOf(computed).head, count }];
}

/** A vector on the heap, and how its `length` numbers lie there. */
type HeapVector = { readonly at: number; readonly parts: readonly Stretch[]; readonly length: number };

/** The frozen model merged with adapters of these parameters, all at scale 1. */
export function mergeAdapters(kernels: Kernels, adaptation: Adaptation, parameters: Float32Array): PlainModel {
  const { adapters } = adaptation;
  const merging = new Merging(kernels, adaptation);
  merging.write('parameters', parameters, merging.parameters);
  return merging.plain(
    strengthsOf(
      adapters,
      adapters.map(() => 1),
    ),
  );
}

/** c of each adapter. @param scales s of each. */
export function strengthsOf(adapters: AdapterConfig, scales: readonly number[]): Strengths {
  return adapters.map((adapter, index) => scales[index]! * strengthOf(adapter));
}

function paddedLength(count: number): number {
  return Math.ceil(count / 4) * 4;
}
