import type { ModelShape } from '../engine.js';
import { offsetsOf, type Tensor } from '../layout.js';
import { widthsOf } from '../model-shape.js';
import { paddedShape, push, type Stretch } from '../model/padding.js';
import {
  layersOf,
  projections,
  type Adapter,
  type AdapterConfig,
  type Lora,
  type Mlp,
  type Projection,
} from './config.js';

/** An adapter's A [rank × inputs] and Bᵀ [rank × outputs] for a projection, whose own matrix is [inputs × outputs]. */
export type Block = {
  /** Index of the adapter. */
  readonly adapter: number;
  readonly rank: number;
  readonly inputs: number;
  readonly outputs: number;
  /** Offsets of A and of Bᵀ among the parameters, and their row strides, in floats. */
  readonly a: number;
  readonly aRow: number;
  readonly b: number;
  readonly bRow: number;
  /** Offset and row stride of the projection in the flat vector of the computed model. */
  readonly matrix: number;
  readonly matrixRow: number;
};

/** Neurons added to a layer: G and U [count × width], D transposed [count × width]. */
export type Neurons = {
  readonly adapter: number;
  readonly layer: number;
  readonly count: number;
  /** Index of the first one among the layer's neurons. */
  readonly first: number;
  readonly gate: number;
  readonly up: number;
  readonly down: number;
};

/** Offsets of everything in the flat vector of the adapters' parameters. */
type AdapterLayout = {
  readonly tensors: readonly Tensor[];
  readonly blocks: readonly Block[];
  readonly neurons: readonly Neurons[];
  readonly size: number;
};

/**
 * The plain model that a model with adapters can be merged into: neurons of adapters are neurons of the layer, and
 * LoRA changes nothing but weights. A head with LoRA is no longer the embedding.
 */
export function mergedShape(shape: ModelShape, adapters: AdapterConfig): ModelShape {
  const more = adapters.reduce((sum, adapter) => sum + (adapter.kind === 'mlp' ? adapter.neurons : 0), 0);
  const tied = shape.tied && !adapters.some(adaptsHead);
  return more === 0 && tied === shape.tied ? shape : { ...shape, tied, feedForward: shape.feedForward + more };
}

function adaptsHead(adapter: Adapter): adapter is Lora {
  return adapter.kind === 'lora' && adapter.rank > 0 && adapter.targets.includes('lm_head');
}

/** Shape of the model that the kernels compute: `mergedShape`, padded. */
export function computedShape(shape: ModelShape, adapters: AdapterConfig): ModelShape {
  return paddedShape(mergedShape(shape, adapters));
}

/**
 * Lays out adapter by adapter, layer by layer, projection by projection; an adapter's head follows its layers.
 *
 * @param stored The shape itself, or its padded shape: the rows of the parameters are then padded as well.
 */
export function adapterLayout(shape: ModelShape, adapters: AdapterConfig, stored = shape): AdapterLayout {
  const vector = new Vector();
  const blocks: Block[] = [];
  const neurons: Neurons[] = [];
  const computed = computedShape(shape, adapters);
  adapters.forEach((adapter, index) => {
    for (const layer of layersOf(shape, adapter)) {
      if (adapter.kind === 'mlp' && adapter.neurons > 0) {
        const first = mergedShape(shape, adapters.slice(0, index)).feedForward;
        neurons.push({ adapter: index, layer, first, ...takeNeurons(vector, adapter, { layer, width: shape.width }) });
      }
      if (adapter.kind !== 'lora' || adapter.rank === 0) continue;
      for (const target of projections.filter((projection) => adapter.targets.includes(projection))) {
        const sizes = { used: projectionSizes(shape)[target], stored: projectionSizes(stored)[target] };
        const factors = takeFactors(vector, adapter, layer, { target, ...sizes });
        blocks.push({ adapter: index, ...factors, ...placeOf(computed, layer, target) });
      }
    }
    if (adaptsHead(adapter)) blocks.push({ adapter: index, ...takeHead(vector, adapter, computed) });
  });
  return { tensors: vector.tensors, blocks, neurons, size: vector.size };
}

/** A flat vector that is allocated from its beginning. */
class Vector {
  readonly tensors: Tensor[] = [];
  size = 0;

  /**
   * Allocates a matrix.
   * @returns its offset. Each of the `rows` rows takes `row` floats, of which `length` are the tensor's.
   */
  takeRows(name: string, { rows, length, row }: MatrixRows): number {
    this.tensors.push({ name, offset: this.size, shape: [rows, length], strides: [row, 1] });
    return this.#take(rows * row);
  }

  /** `takeRows` for a tensor whose columns are stored as rows. */
  takeColumns(name: string, { rows, length, row }: MatrixRows): number {
    this.tensors.push({ name, offset: this.size, shape: [length, rows], strides: [1, row] });
    return this.#take(rows * row);
  }

  #take(count: number): number {
    this.size += count;
    return this.size - count;
  }
}

type MatrixRows = { readonly rows: number; readonly length: number; readonly row: number };

function takeFactors(
  vector: Vector,
  { name, rank }: Lora,
  layer: number,
  { target, used, stored }: { target: Projection; used: Sizes; stored: Sizes },
): Omit<Block, 'adapter' | 'matrix' | 'matrixRow'> {
  const { room, inputs, outputs } = used;
  const { inputs: aRow, outputs: bRow } = stored;
  const prefix = `model.layers.${layer}.${room}.${target}`;
  const a = vector.takeRows(`${prefix}.lora_A.${name}`, { rows: rank, length: inputs, row: aRow });
  const b = vector.takeColumns(`${prefix}.lora_B.${name}`, { rows: rank, length: outputs, row: bRow });
  return { rank, a, aRow, inputs, b, bRow, outputs };
}

/** The head is stored [outputs × inputs], so its A and B change places. */
function takeHead(vector: Vector, { name, rank }: Lora, shape: ModelShape): Omit<Block, 'adapter'> {
  const { vocabulary, width } = shape;
  const b = vector.takeRows(`lm_head.lora_A.${name}`, { rows: rank, length: width, row: width });
  const a = vector.takeColumns(`lm_head.lora_B.${name}`, { rows: rank, length: vocabulary, row: vocabulary });
  const own = { rank, a, aRow: vocabulary, inputs: vocabulary, b, bRow: width, outputs: width };
  return { ...own, matrix: offsetsOf(shape).head, matrixRow: width };
}

function takeNeurons(
  vector: Vector,
  { name, neurons: count }: Mlp,
  { layer, width }: { layer: number; width: number },
): Pick<Neurons, 'count' | 'gate' | 'up' | 'down'> {
  const prefix = `model.layers.${layer}.mlp`;
  const rows = { rows: count, length: width, row: width };
  const gate = vector.takeRows(`${prefix}.gate_adapter.${name}`, rows);
  const up = vector.takeRows(`${prefix}.up_adapter.${name}`, rows);
  const down = vector.takeColumns(`${prefix}.down_adapter.${name}`, rows);
  return { count, gate, up, down };
}

type Sizes = { readonly room: 'self_attn' | 'mlp'; readonly inputs: number; readonly outputs: number };

function projectionSizes(shape: ModelShape): Record<Projection, Sizes> {
  const { width, feedForward } = shape;
  const { kv } = widthsOf(shape);
  return {
    q_proj: { room: 'self_attn', inputs: width, outputs: width },
    k_proj: { room: 'self_attn', inputs: width, outputs: kv },
    v_proj: { room: 'self_attn', inputs: width, outputs: kv },
    o_proj: { room: 'self_attn', inputs: width, outputs: width },
    gate_proj: { room: 'mlp', inputs: width, outputs: feedForward },
    up_proj: { room: 'mlp', inputs: width, outputs: feedForward },
    down_proj: { room: 'mlp', inputs: feedForward, outputs: width },
  };
}

/** Offset and row stride of a projection's columns in the matrix that holds them. */
function placeOf(shape: ModelShape, layer: number, target: Projection): Pick<Block, 'matrix' | 'matrixRow'> {
  const { width, feedForward } = shape;
  const { kv, qkv } = widthsOf(shape);
  const offsets = offsetsOf(shape).layers[layer]!;
  const inQkv = (column: number) => ({ matrix: offsets.qkv + column, matrixRow: qkv });
  const inGateUp = (column: number) => ({ matrix: offsets.gateUp + column, matrixRow: 2 * feedForward });
  const places: Record<Projection, ReturnType<typeof inQkv>> = {
    q_proj: inQkv(0),
    k_proj: inQkv(width),
    v_proj: inQkv(width + kv),
    o_proj: { matrix: offsets.output, matrixRow: width },
    gate_proj: inGateUp(0),
    up_proj: inGateUp(feedForward),
    down_proj: { matrix: offsets.down, matrixRow: width },
  };
  return places[target];
}

/** The numbers of a tensor in the flat vector, in the order of its rows. */
export function* placesOf({ shape, offset, strides }: Tensor): Generator<number> {
  const [rows, columns = 1] = shape;
  const [row, column = 0] = strides;
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) yield offset + i * row + j * column;
}

/** Maps the numbers of tensors to the same tensors with longer rows. */
export function rowStretches(tensors: readonly Tensor[], stored: readonly Tensor[]): Stretch[] {
  const all: Stretch[] = [];
  tensors.forEach((tensor, index) => {
    const [rows, columns = 1] = tensor.shape;
    const isTransposed = tensor.strides[0] === 1 && tensor.strides[1] !== 1;
    const [count, length, at] = isTransposed ? [columns, rows, 1] : [rows, columns, 0];
    const { offset, strides } = stored[index]!;
    for (let row = 0; row < count; row++) {
      push(all, { from: tensor.offset + row * tensor.strides[at]!, to: offset + row * strides[at]!, count: length });
    }
  });
  return all;
}
