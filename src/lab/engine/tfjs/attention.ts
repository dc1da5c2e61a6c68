import type { ModelShape } from '../engine.js';
import type { Block, GradientPlaces } from './attention-plan.js';
import type { Device, Tensor } from './device.js';

/** A block's tables on the device. */
type BlockTables = {
  readonly readers: number;
  readonly queries: number;
  readonly keys: number;
  readonly queryIds: Tensor;
  readonly resultIds: Tensor;
  readonly keyIds: Tensor;
  readonly valueIds: Tensor;
  /** [readers × 1 × queries × keys]: 0 where the query sees the key, −1e9 where it does not. */
  readonly mask: Tensor;
  /** [readers × 1 × queries × 1]: 0 for padding, else 1; null when there is no padding. */
  readonly isQuery: Tensor | null;
};

/** The index tables of attention on the device. */
export type AttentionTables = { readonly blocks: readonly BlockTables[]; readonly places: Tensor };

/** Gather tables of the derivatives on the device; see `GradientPlaces`. */
export type GradientTables = { readonly places: Tensor; readonly sums: { terms: number; ids: Tensor } | null };

/** Tensors of one block for the backward pass. The first three dimensions are readers, key heads and rows. */
type Attended = { readonly q: Tensor; readonly k: Tensor; readonly v: Tensor; readonly p: Tensor };

export function attentionTables(device: Device, blocks: readonly Block[], places: Int32Array): AttentionTables {
  return { blocks: blocks.map((block) => blockTables(device, block)), places: device.ids(places) };
}

export function gradientTables(device: Device, { places, sums }: GradientPlaces): GradientTables {
  return {
    places: device.ids(places),
    sums: sums === null ? null : { terms: sums.terms, ids: device.ids(sums.ids) },
  };
}

function blockTables(device: Device, block: Block): BlockTables {
  const { tf } = device;
  const { queries, keys } = block;
  const readers = block.readers.length;
  const limits = tf.reshape(device.floats(block.limits), [readers, 1, queries, 1]);
  const seen = tf.cast(tf.lessEqual(tf.range(0, keys), limits), 'float32');
  return {
    readers,
    queries,
    keys,
    queryIds: device.ids(block.queryIds),
    resultIds: device.ids(block.resultIds),
    keyIds: device.ids(block.keyIds),
    valueIds: device.ids(block.valueIds),
    mask: tf.mul(tf.sub(seen, 1), 1e9),
    isQuery: block.isPadded ? tf.cast(tf.greaterEqual(limits, 0), 'float32') : null,
  };
}

/**
 * Softmax attention. Scores are not scaled here: the rotation has scaled the queries.
 *
 * @param rows [rows × (queries | keys | values)], rotated.
 * @param keys The same rows, or a cache with the rows that the tables name.
 * @returns [rows × width], and the tensors for `attentionBackward`.
 */
export function attention(
  device: Device,
  shape: ModelShape,
  tables: AttentionTables,
  { rows, keys }: { rows: Tensor; keys: Tensor },
): { result: Tensor; attended: readonly Attended[] } {
  const { tf } = device;
  const head = shape.width / shape.heads;
  const queryVectors = tf.reshape(rows, [-1, head]);
  const keyVectors = keys === rows ? queryVectors : tf.reshape(keys, [-1, head]);
  const attended: Attended[] = [];
  const results = tables.blocks.map((block) => {
    const shared = [block.readers, shape.kvHeads];
    const q = tf.reshape(device.rows(queryVectors, block.queryIds), [...shared, -1, head]);
    const k = tf.reshape(device.rows(keyVectors, block.keyIds), [...shared, block.keys, head]);
    const v = tf.reshape(device.rows(keyVectors, block.valueIds), [...shared, block.keys, head]);
    const scores = tf.reshape(tf.matMul(q, k, false, true), [block.readers, shape.heads, block.queries, block.keys]);
    const p = tf.reshape(tf.softmax(tf.add(scores, block.mask)), [...shared, -1, block.keys]);
    attended.push({ q, k, v, p });
    return tf.reshape(tf.matMul(p, v), [-1, head]);
  });
  const result = tf.reshape(device.rows(concatRows(device, results), tables.places), [-1, shape.width]);
  return { result, attended };
}

/** The derivative w.r.t. `rows` (queries, keys and values), given that w.r.t. the result. */
export function attentionBackward(
  device: Device,
  shape: ModelShape,
  tables: { forward: AttentionTables; backward: GradientTables },
  { dResult, attended }: { dResult: Tensor; attended: readonly Attended[] },
): Tensor {
  const { tf } = device;
  const head = shape.width / shape.heads;
  const vectors = tf.reshape(dResult, [-1, head]);
  const parts = attended.map((kept, index) => blockBackward(device, tables.forward.blocks[index]!, kept, vectors));
  const flat = (name: 'dQ' | 'dK' | 'dV') => parts.map((part) => tf.reshape(part[name], [-1, head]));
  let all = tf.concat([...flat('dQ'), ...flat('dK'), ...flat('dV'), tf.zeros([1, head])], 0);
  const { places, sums } = tables.backward;
  if (sums !== null) {
    const terms = tf.reshape(device.rows(all, sums.ids), [-1, sums.terms, head]);
    all = tf.concat([all, tf.sum(terms, 1)], 0);
  }
  return tf.reshape(device.rows(all, places), [-1, (shape.heads + 2 * shape.kvHeads) * head]);
}

function blockBackward(
  device: Device,
  block: BlockTables,
  { q, k, v, p }: Attended,
  dResults: Tensor,
): { dQ: Tensor; dK: Tensor; dV: Tensor } {
  const { tf } = device;
  const gathered = device.rows(dResults, block.resultIds);
  const dO = tf.reshape(block.isQuery === null ? gathered : withoutPadding(device, gathered, block), q.shape);
  const weighted = tf.mul(tf.matMul(dO, v, false, true), p);
  const dScores = tf.sub(weighted, tf.mul(p, tf.sum(weighted, -1, true)));
  return { dQ: tf.matMul(dScores, k), dK: tf.matMul(dScores, q, true), dV: tf.matMul(p, dO, true) };
}

/** Zeroes the derivatives of padding, which repeats some row: they must not reach the keys. */
function withoutPadding({ tf }: Device, vectors: Tensor, { readers, queries, isQuery }: BlockTables): Tensor {
  return tf.mul(tf.reshape(vectors, [readers, -1, queries, vectors.shape[1]!]), isQuery!);
}

function concatRows({ tf }: Device, tensors: readonly Tensor[]): Tensor {
  return tensors.length === 1 ? tensors[0]! : tf.concat([...tensors], 0);
}
