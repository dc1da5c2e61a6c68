import type { ModelShape } from '../engine.js';
import type { Kernels } from '../kernels/kernels.js';
import { columnPanels, multiply, pack, productScratch, rowPanels, type Panels } from '../kernels/matrices.js';
import { allocateOuterProduct } from '../kernels/records.js';
import { offsetsOf } from '../layout.js';
import { paddedShape, stretches, type Stretch } from '../model/padding.js';
import { strengthOf, type AdapterConfig } from './config.js';
import { UserError } from '../../../base/user-error.js';
import {
  adapterLayout,
  computedShape,
  mergedShape,
  rowStretches,
  type Block,
  type Neurons,
  type Site,
} from './layout.js';

/**
 * A site on the heap. `left` [ranks × rows] and `right` [ranks × columns] hold A and c·Bᵀ of all its blocks, one below the
 * other; what a block has nothing to do with stays 0.
 */
type Factors = Site & {
  readonly ranks: number;
  readonly left: number;
  readonly right: number;
  /** W += leftᵀ · right. */
  readonly outer: number;
  /** Products with the derivative by W: left · dW, and dW · rightᵀ. */
  readonly dense: Panels;
  readonly transposed: Panels;
};

/** A model without adapters: weights as `layout(shape)` has them. */
export type PlainModel = { readonly shape: ModelShape; readonly weights: Float32Array };

/** A frozen model, and what adapters are on it. */
export type Adaptation = PlainModel & { readonly adapters: AdapterConfig };

/** What an adapter's output is multiplied by, c = s · alpha/rank, by the adapter's index. */
export type Strengths = readonly number[];

/**
 * Adapters written into the weights, W + Σ c·B·A, and the derivative by these written out to the adapters: dB = c · dW Aᵀ and
 * dA = c · Bᵀ dW. Neurons of adapters are further neurons of the layer. So every pass is that of a plain model, whatever
 * computes it, and costs as much; a rank costs something once for each change of the weights.
 */
export class Merging {
  /** Numbers of the adapters' parameters on the heap, where rows are filled up, and their addresses. */
  readonly count: number;
  readonly parameters: number;
  readonly gradient: number;
  readonly #kernels: Kernels;
  readonly #shape: ModelShape;
  readonly #adapters: AdapterConfig;
  /** Of the parameters as `adapterLayout` has them. */
  readonly #length: number;
  /** The parameters among those on the heap, and the frozen weights among those that are computed with. */
  readonly #own: readonly Stretch[];
  readonly #frozen: readonly Stretch[];
  /** The frozen weights in the shape that is computed with. */
  readonly #base: number;
  readonly #baseCount: number;
  readonly #computed: ModelShape;
  readonly #factors: readonly Factors[];
  readonly #neurons: readonly Neurons[];
  readonly #merged: number;
  /** The derivative by the merged weights. */
  readonly #dense: number;
  /** Room for a product, and for what `addProduct` packs. */
  readonly #result: number;
  readonly #packed: number;

  /** All parameters are zero. @param kernels A fresh set, used by no other engine. */
  constructor(kernels: Kernels, { shape, weights, adapters }: Adaptation) {
    const { heap } = kernels;
    const { sites, neurons, size, tensors } = adapterLayout(shape, adapters, paddedShape(shape));
    const plain = adapterLayout(shape, adapters);
    this.#kernels = kernels;
    this.#shape = shape;
    this.#adapters = adapters;
    this.#computed = computedShape(shape, adapters);
    this.#length = plain.size;
    this.#own = rowStretches(plain.tensors, tensors);
    this.#frozen = stretches(shape, this.#computed);
    this.#neurons = neurons;
    this.count = size;
    this.parameters = heap.allocate(size);
    this.gradient = heap.allocate(size);
    this.#baseCount = offsetsOf(this.#computed).size;
    this.#base = heap.allocate(this.#baseCount);
    this.#merged = heap.allocate(this.#baseCount);
    this.#dense = heap.allocate(this.#baseCount);
    this.#factors = sites.map((site) => factorsOf(kernels, site, this.#dense));
    const most = (sizes: readonly number[]) => Math.max(0, ...sizes);
    this.#result = heap.allocate(
      most(this.#factors.map((f) => Math.max(f.ranks * f.columns, f.rows * padded(f.ranks)))),
    );
    this.#packed = heap.allocate(productScratch(most(this.#factors.map(({ columns }) => columns))));
    this.#put('weights', weights, { at: this.#base, parts: this.#frozen, length: offsetsOf(shape).size });
  }

  /** Numbers of the parameters, or of what is as long, at this address, without what fills up rows. */
  read(at: number, into: Float32Array = new Float32Array(this.#length)): Float32Array {
    return this.#get({ at, parts: this.#own }, into);
  }

  /** @param name For the message when there are more or fewer numbers than parameters. */
  write(name: string, values: Float32Array, at: number): void {
    this.#put(name, values, { at, parts: this.#own, length: this.#length });
  }

  /** A copy of the frozen weights. */
  frozen(): Float32Array {
    return this.#get({ at: this.#base, parts: this.#frozen }, new Float32Array(offsetsOf(this.#shape).size));
  }

  /** The plain model that the adapters make of the frozen one; with neurons of theirs, a wider one. */
  plain(strengths: Strengths): PlainModel {
    const shape = mergedShape(this.#shape, this.#adapters);
    const computed = this.merged(strengths);
    const weights = new Float32Array(offsetsOf(shape).size);
    for (const { from, to, count } of stretches(shape)) weights.set(computed.subarray(to, to + count), from);
    return { shape, weights };
  }

  /** The weights with the adapters in them; a view of the heap, which the next call overwrites. */
  merged(strengths: Strengths): Float32Array {
    const kernels = this.#kernels;
    kernels.copy(this.#baseCount, this.#base, this.#merged);
    for (const factors of this.#factors) {
      this.#fill(factors, strengths);
      const { outer, ranks, left, right, matrix } = factors;
      kernels.addProduct(outer, ranks, left, right, this.#merged + matrix * 4, this.#packed);
    }
    for (const neurons of this.#neurons) this.#place(neurons, strengths[neurons.adapter]!);
    const { f32 } = kernels.heap;
    return f32.subarray(this.#merged / 4, this.#merged / 4 + this.#baseCount);
  }

  /** Where the derivative by the merged weights is to be put: a view of the heap. */
  get dense(): Float32Array {
    return this.#kernels.heap.f32.subarray(this.#dense / 4, this.#dense / 4 + this.#baseCount);
  }

  /**
   * Adds what `dense` says to the adapters' gradient.
   *
   * @param strengths Those that `merged` was given last, with whose weights the derivative was computed.
   * @param isTrained Whether the adapter of this index takes part.
   */
  addGradient(strengths: Strengths, isTrained: (adapter: number) => boolean): void {
    for (const factors of this.#factors) {
      if (factors.blocks.some(({ adapter }) => isTrained(adapter))) this.#addFactors(factors, strengths, isTrained);
    }
    for (const neurons of this.#neurons) {
      if (isTrained(neurons.adapter)) this.#addNeurons(neurons, strengths[neurons.adapter]!);
    }
  }

  #get({ at, parts }: Pick<Place, 'at' | 'parts'>, values: Float32Array): Float32Array {
    const memory = this.#kernels.heap.f32.subarray(at / 4);
    for (const { from, to, count } of parts) values.set(memory.subarray(to, to + count), from);
    return values;
  }

  #put(name: string, values: Float32Array, { at, parts, length }: Place): void {
    if (values.length !== length) {
      throw new UserError(
        `\`${name}\` has ${values.length} numbers where ${length} are needed.`,
        'Use the checkpoint of a model of the same shape with the same adapters.',
      );
    }
    const memory = this.#kernels.heap.f32.subarray(at / 4);
    for (const { from, to, count } of parts) memory.set(values.subarray(from, from + count), to);
  }

  #fill({ blocks, left, right, rows, columns }: Factors, strengths: Strengths): void {
    const { f32 } = this.#kernels.heap;
    forEachRank(blocks, ({ adapter, a, aRow, inputs, b, bRow, outputs, column }, k, row) => {
      const from = this.parameters / 4 + a + k * aRow;
      f32.copyWithin(left / 4 + row * rows, from, from + inputs);
      const strength = strengths[adapter]!;
      const to = right / 4 + row * columns + column;
      const out = this.parameters / 4 + b + k * bRow;
      for (let j = 0; j < outputs; j++) f32[to + j] = strength * f32[out + j]!;
    });
  }

  #addFactors(factors: Factors, strengths: Strengths, isTrained: (adapter: number) => boolean): void {
    const kernels = this.#kernels;
    const { f32 } = kernels.heap;
    const { blocks, ranks, left, rows, columns, dense, transposed } = factors;
    const result = this.#result / 4;
    const gradient = this.gradient / 4;
    pack(kernels, dense);
    multiply(kernels, dense, ranks, left, this.#result, 0);
    forEachRank(blocks, ({ adapter, b, bRow, outputs, column }, k, row) => {
      if (!isTrained(adapter)) return;
      const [to, from] = [gradient + b + k * bRow, result + row * columns + column];
      for (let j = 0; j < outputs; j++) f32[to + j]! += strengths[adapter]! * f32[from + j]!;
    });
    pack(kernels, transposed);
    multiply(kernels, transposed, rows, dense.source, this.#result, 0);
    forEachRank(blocks, ({ adapter, a, aRow, inputs }, k, row) => {
      if (!isTrained(adapter)) return;
      const [to, stride] = [gradient + a + k * aRow, padded(ranks)];
      for (let i = 0; i < inputs; i++) f32[to + i]! += f32[result + i * stride + row]!;
    });
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

  /** Where each of the neurons' weights stands among their own, and in the layer's two matrices. */
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

/** A vector on the heap, and how its `length` numbers lie there. */
type Place = { readonly at: number; readonly parts: readonly Stretch[]; readonly length: number };

/** The plain model that a frozen one is with adapters of these parameters, all switched on. */
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

function factorsOf(kernels: Kernels, site: Site, dense: number): Factors {
  const { heap } = kernels;
  const { blocks, rows, columns, matrix } = site;
  const ranks = blocks.reduce((sum, { rank }) => sum + rank, 0);
  const right = heap.allocate(ranks * columns);
  return {
    ...site,
    ranks,
    left: heap.allocate(ranks * rows),
    right,
    outer: allocateOuterProduct(heap, { leftWidth: rows, leftRow: rows, rightWidth: columns }),
    dense: rowPanels(kernels, rows, columns, dense + matrix * 4),
    transposed: columnPanels(kernels, columns, ranks, right),
  };
}

/** Every rank of every block, with its row of the factors. */
function forEachRank(blocks: readonly Block[], visit: (block: Block, k: number, row: number) => void): void {
  let row = 0;
  for (const block of blocks) for (let k = 0; k < block.rank; k++) visit(block, k, row++);
}

function padded(count: number): number {
  return Math.ceil(count / 4) * 4;
}
