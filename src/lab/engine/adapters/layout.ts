import type { ModelShape } from '../engine.js';
import { offsetsOf, type Tensor } from '../layout.js';
import { widthsOf } from '../model-shape.js';
import { paddedShape, push, type Stretch } from '../model/padding.js';
import { layersOf, projections, type AdapterConfig, type Lora, type Mlp, type Projection } from './config.js';

/** Rows of one adapter's A and B that belong to a projection: of W [in × out], A is [rank × in] and Bᵀ [rank × out]. */
export type Block = {
  /** Index of the adapter. */
  readonly adapter: number;
  readonly rank: number;
  /** Where the rows of A begin among the parameters, and floats from one to the next; `inputs` of them are used. */
  readonly a: number;
  readonly aRow: number;
  readonly inputs: number;
  readonly b: number;
  readonly bRow: number;
  readonly outputs: number;
  /** First of the matrix's columns that the projection has. */
  readonly column: number;
};

/** A matrix of the model with LoRA on it. */
export type Site = {
  /** Where the matrix [rows × columns] begins in the flat vector of the model that is computed with. */
  readonly matrix: number;
  readonly rows: number;
  readonly columns: number;
  readonly blocks: readonly Block[];
};

/** Neurons that stand beside those of a layer: G and U [count × width], D transposed [count × width]. */
export type Neurons = {
  readonly adapter: number;
  readonly layer: number;
  readonly count: number;
  /** The first of them among the neurons of the layer. */
  readonly first: number;
  readonly gate: number;
  readonly up: number;
  readonly down: number;
};

/** Where everything lies among the adapters' parameters, one flat vector. */
export type AdapterLayout = {
  readonly tensors: readonly Tensor[];
  readonly sites: readonly Site[];
  readonly neurons: readonly Neurons[];
  readonly size: number;
};

/**
 * The plain model that a model with adapters amounts to: neurons of adapters are neurons of the layer, and LoRA changes
 * nothing but weights.
 */
export function mergedShape(shape: ModelShape, adapters: AdapterConfig): ModelShape {
  const more = adapters.reduce((sum, adapter) => sum + (adapter.kind === 'mlp' ? adapter.neurons : 0), 0);
  return more === 0 ? shape : { ...shape, feedForward: shape.feedForward + more };
}

/** Shape of the model that is computed with: `mergedShape`, filled up as the kernels want it. */
export function computedShape(shape: ModelShape, adapters: AdapterConfig): ModelShape {
  return paddedShape(mergedShape(shape, adapters));
}

/**
 * Adapter by adapter, layer by layer, projection by projection.
 *
 * @param stored The shape itself, or the one with its feed-forward layer filled up: then rows of the parameters are, too,
 *   as the kernels want them.
 */
export function adapterLayout(shape: ModelShape, adapters: AdapterConfig, stored = shape): AdapterLayout {
  const vector = new Vector();
  const sites = new Map<number, Site & { blocks: Block[] }>();
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
        const { column, ...matrix } = placeOf(computed, layer, target);
        const site = sites.get(matrix.matrix) ?? { ...matrix, blocks: [] };
        sites.set(matrix.matrix, site);
        site.blocks.push({ adapter: index, column, ...takeFactors(vector, adapter, layer, { target, ...sizes }) });
      }
    }
  });
  return { tensors: vector.tensors, sites: [...sites.values()], neurons, size: vector.size };
}

/** A flat vector that is handed out from its beginning. */
class Vector {
  readonly tensors: Tensor[] = [];
  size = 0;

  /** @returns where a matrix of so many rows begins. Each takes `row` floats, of which `length` are the tensor's. */
  takeRows(name: string, { rows, length, row }: Rows): number {
    this.tensors.push({ name, offset: this.size, shape: [rows, length], strides: [row, 1] });
    return this.#take(rows * row);
  }

  /** The same for a tensor whose columns lie in rows. */
  takeColumns(name: string, { rows, length, row }: Rows): number {
    this.tensors.push({ name, offset: this.size, shape: [length, rows], strides: [1, row] });
    return this.#take(rows * row);
  }

  #take(count: number): number {
    this.size += count;
    return this.size - count;
  }
}

type Rows = { readonly rows: number; readonly length: number; readonly row: number };

function takeFactors(
  vector: Vector,
  { name, rank }: Lora,
  layer: number,
  { target, used, stored }: { target: Projection; used: Sizes; stored: Sizes },
): Omit<Block, 'adapter' | 'column'> {
  const { room, inputs, outputs } = used;
  const { inputs: aRow, outputs: bRow } = stored;
  const prefix = `model.layers.${layer}.${room}.${target}`;
  const a = vector.takeRows(`${prefix}.lora_A.${name}`, { rows: rank, length: inputs, row: aRow });
  const b = vector.takeColumns(`${prefix}.lora_B.${name}`, { rows: rank, length: outputs, row: bRow });
  return { rank, a, aRow, inputs, b, bRow, outputs };
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

/** The matrix that holds a projection's columns, and the first of these. */
function placeOf(
  shape: ModelShape,
  layer: number,
  target: Projection,
): Pick<Site, 'matrix' | 'rows' | 'columns'> & Pick<Block, 'column'> {
  const { width, feedForward } = shape;
  const { kv, qkv } = widthsOf(shape);
  const offsets = offsetsOf(shape).layers[layer]!;
  const inQkv = (column: number) => ({ matrix: offsets.qkv, rows: width, columns: qkv, column });
  const inGateUp = (column: number) => ({ matrix: offsets.gateUp, rows: width, columns: 2 * feedForward, column });
  const places: Record<Projection, ReturnType<typeof inQkv>> = {
    q_proj: inQkv(0),
    k_proj: inQkv(width),
    v_proj: inQkv(width + kv),
    o_proj: { matrix: offsets.output, rows: width, columns: width, column: 0 },
    gate_proj: inGateUp(0),
    up_proj: inGateUp(feedForward),
    down_proj: { matrix: offsets.down, rows: feedForward, columns: width, column: 0 },
  };
  return places[target];
}

/** The numbers of a tensor in the flat vector, in the order of its rows. */
export function* placesOf({ shape, offset, strides }: Tensor): Generator<number> {
  const [rows, columns = 1] = shape;
  const [row, column = 0] = strides;
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) yield offset + i * row + j * column;
}

/** Where the numbers of tensors lie when the rows of the same tensors are longer. */
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
