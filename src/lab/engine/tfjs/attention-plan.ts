/**
 * Index tables of attention: which rows attend to which. Attention over sequences of different length that share a
 * prompt is then one gather into a block [readers × heads × rows × head width], three products, and one gather back.
 * Nothing here knows of tensors.
 *
 * Indices count head vectors: a row of queries, keys and values side by side is `heads + 2·kvHeads` of them.
 */
import type { ModelShape } from '../engine.js';

/** Consecutive rows that attend, and the rows they attend to. */
export type Reader = {
  /** The first row; the queries of `rows` of them. */
  readonly row: number;
  readonly rows: number;
  /** Rows that its last row sees, itself included. The row before it sees all but the last, and so on. */
  readonly keys: readonly number[];
};

/** Layout of keys and values in the tensor they come from. */
type KeySource = {
  /** Head vectors a row. */
  readonly stride: number;
  readonly firstKey: number;
  readonly firstValue: number;
};

/** Readers padded to the same number of rows and of keys. */
export type Block = {
  readonly readers: readonly Reader[];
  /** The maximum of the readers' rows, and of their keys. */
  readonly queries: number;
  readonly keys: number;
  /** Index of the head vector for each reader, head and query; arbitrary for padding. */
  readonly queryIds: Int32Array;
  /** The same in a tensor that holds one vector per head: the attention's results. */
  readonly resultIds: Int32Array;
  readonly keyIds: Int32Array;
  readonly valueIds: Int32Array;
  /** Index of the last key that each query of each reader sees; −1 for padding. */
  readonly limits: Float32Array;
  readonly isPadded: boolean;
};

/** Products of a query and a key that a second block must save to pay for itself. */
const WORTH_A_BLOCK = 65_536;

/**
 * Puts all readers into one block, or each list into its own when their sizes differ much. Empty lists do not count.
 */
export function blocksOf(
  shape: ModelShape,
  lists: readonly (readonly Reader[])[],
  source: KeySource = ownKeys(shape),
): Block[] {
  const filled = lists.filter((readers) => readers.length > 0);
  const together = filled.flat();
  const apart = filled.reduce((sum, readers) => sum + cells(readers), 0);
  const blocks = cells(together) - apart < WORTH_A_BLOCK ? [together] : filled;
  return blocks.map((readers) => blockOf(shape, readers, source));
}

/** Keys and values that lie beside the queries of the same rows. */
function ownKeys({ heads, kvHeads }: ModelShape): KeySource {
  return { stride: heads + 2 * kvHeads, firstKey: heads, firstValue: heads + kvHeads };
}

function cells(readers: readonly Reader[]): number {
  return readers.length * most(readers, ({ rows }) => rows) * most(readers, ({ keys }) => keys.length);
}

function most(readers: readonly Reader[], count: (reader: Reader) => number): number {
  return readers.reduce((largest, reader) => Math.max(largest, count(reader)), 0);
}

function blockOf({ heads, kvHeads }: ModelShape, readers: readonly Reader[], source: KeySource): Block {
  const queries = most(readers, ({ rows }) => rows);
  const keys = most(readers, (reader) => reader.keys.length);
  const queryIds = new Int32Array(readers.length * heads * queries);
  const resultIds = new Int32Array(queryIds.length);
  const keyIds = new Int32Array(readers.length * kvHeads * keys);
  const valueIds = new Int32Array(keyIds.length);
  const limits = new Float32Array(readers.length * queries).fill(-1);
  readers.forEach(({ row, rows, keys: seen }, r) => {
    for (let i = 0; i < rows; i++) limits[r * queries + i] = seen.length - rows + i;
    for (let h = 0; h < heads; h++) {
      for (let i = 0; i < rows; i++) {
        queryIds[(r * heads + h) * queries + i] = (row + i) * (heads + 2 * kvHeads) + h;
        resultIds[(r * heads + h) * queries + i] = (row + i) * heads + h;
      }
    }
    for (let h = 0; h < kvHeads; h++) {
      seen.forEach((key, t) => {
        keyIds[(r * kvHeads + h) * keys + t] = key * source.stride + source.firstKey + h;
        valueIds[(r * kvHeads + h) * keys + t] = key * source.stride + source.firstValue + h;
      });
    }
  });
  const isPadded = readers.some(({ rows }) => rows < queries);
  return { readers, queries, keys, queryIds, resultIds, keyIds, valueIds, limits, isPadded };
}

/** Place of each row's and head's result among the results of all blocks, one block after the other. */
export function resultPlaces({ heads }: ModelShape, rows: number, blocks: readonly Block[]): Int32Array {
  const places = new Int32Array(rows * heads);
  let base = 0;
  for (const { readers, queries } of blocks) {
    readers.forEach(({ row, rows: own }, r) => {
      for (let h = 0; h < heads; h++) {
        for (let i = 0; i < own; i++) places[(row + i) * heads + h] = base + (r * heads + h) * queries + i;
      }
    });
    base += readers.length * heads * queries;
  }
  return places;
}

/**
 * Gather tables that turn the derivatives w.r.t. queries, keys and values of all blocks into those w.r.t. the rows. They index
 * one list: queries of every block, keys of every block, values of every block, a zero, and then the sums listed in
 * `sums`: a row that several readers see has a derivative from each.
 */
export type GradientPlaces = {
  /** [rows × (heads + 2·kvHeads)] */
  readonly places: Int32Array;
  /** [sums × terms], or null when no row is seen by two readers. */
  readonly sums: { readonly terms: number; readonly ids: Int32Array } | null;
};

export function gradientPlaces(shape: ModelShape, rows: number, blocks: readonly Block[]): GradientPlaces {
  const { heads, kvHeads } = shape;
  const sizes = blocks.map(({ readers, queries, keys }) => ({
    queries: readers.length * heads * queries,
    keys: readers.length * kvHeads * keys,
  }));
  const queryCount = sizes.reduce((sum, { queries }) => sum + queries, 0);
  const keyCount = sizes.reduce((sum, { keys }) => sum + keys, 0);
  const zero = queryCount + 2 * keyCount;
  const terms = keyTerms(rows, blocks, kvHeads, queryCount);
  const shared = terms.flatMap((own, row) => (own.length > 1 ? [row] : []));
  const longest = Math.max(...terms.map((own) => own.length));
  const places = new Int32Array(rows * (heads + 2 * kvHeads)).fill(zero);
  const queryPlaces = resultPlaces(shape, rows, blocks);
  const ids = new Int32Array(shared.length * 2 * kvHeads * longest).fill(zero);
  const sumOf = new Map(shared.map((row, index) => [row, index * 2 * kvHeads]));
  for (let row = 0; row < rows; row++) {
    const at = row * (heads + 2 * kvHeads);
    for (let h = 0; h < heads; h++) places[at + h] = queryPlaces[row * heads + h]!;
    for (let h = 0; h < 2 * kvHeads; h++) {
      const vectors = terms[row]!.map(({ first, stride }) =>
        h < kvHeads ? first + h * stride : first + keyCount + (h - kvHeads) * stride,
      );
      const sum = sumOf.get(row);
      if (sum !== undefined) ids.set(vectors, (sum + h) * longest);
      places[at + heads + h] = sum === undefined ? (vectors[0] ?? zero) : zero + 1 + sum + h;
    }
  }
  return { places, sums: shared.length === 0 ? null : { terms: longest, ids } };
}

/** For each row, the places of its first key head in every reader that sees it, and the stride to the next head. */
function keyTerms(
  rows: number,
  blocks: readonly Block[],
  kvHeads: number,
  base: number,
): { first: number; stride: number }[][] {
  const terms: { first: number; stride: number }[][] = Array.from({ length: rows }, () => []);
  let start = base;
  for (const { readers, keys } of blocks) {
    readers.forEach((reader, r) => {
      reader.keys.forEach((key, t) => terms[key]!.push({ first: start + r * kvHeads * keys + t, stride: keys }));
    });
    start += readers.length * kvHeads * keys;
  }
  return terms;
}
