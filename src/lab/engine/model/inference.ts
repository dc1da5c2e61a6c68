import { multiply } from '../kernels/matrices.js';
import { spanSize, writeSpan } from '../kernels/records.js';
import { Cursor, Workspace } from '../kernels/workspace.js';
import { type LayerBuffers, runLayer } from './layer.js';
import type { Model } from './model.js';

/** Rows of [keys | values], one per token; a row has the same number in every layer. */
export type Cache = {
  readonly at: number;
  /** Rows of one layer. */
  readonly rows: number;
};

/** New tokens of one sequence in a pass. Their keys and values go into the cache, after what it holds of the sequence. */
export type Part = {
  readonly tokens: ArrayLike<number>;
  /** Cache rows that the sequence sees first: those of its prompt. */
  readonly shared: number;
  readonly sharedRows: number;
  /** Cache rows of its own; before the new tokens it has `ownBefore`. */
  readonly own: number;
  readonly ownBefore: number;
  /** The first own rows are copies of these, made in this pass: what another prompt begins with, too. */
  readonly copyOf?: number;
};

/** Addresses of what one pass computes. All layers use the same buffers. */
type Buffers = {
  readonly rows: number;
  readonly parts: number;
  readonly tokens: number;
  readonly positions: number;
  readonly lastRows: number;
  /** Records of the parts. */
  readonly spans: number;
  readonly layer: LayerBuffers;
  readonly headX: number;
  readonly headNormed: number;
  readonly headScale: number;
  readonly scores: number;
  /** Room for a number per part. */
  readonly entropies: number;
};

/** Floats of a cache of so many rows. */
export function cacheSize({ shape, widths }: Model, rows: number): number {
  return shape.layers * rows * 2 * widths.kv;
}

/** The model forward without a way back, token by token or many at once: what decoders and `generate` have in common. */
export class Inference {
  readonly model: Model;
  readonly #workspace: Workspace;
  #buffers: Buffers | null = null;

  constructor(model: Model) {
    this.model = model;
    this.#workspace = new Workspace(model.kernels.heap);
  }

  /**
   * Computes the parts, in order.
   *
   * @returns Until the next run: `scores`, unnormalised, of what follows each part's last token, a row per part.
   */
  run(cache: Cache, parts: readonly Part[]): Pick<Buffers, 'scores' | 'entropies'> {
    const { model } = this;
    const { kernels, shape, parameters } = model;
    let rows = 0;
    for (const { tokens } of parts) rows += tokens.length;
    const buffers = this.#buffersFor(rows, parts.length);
    parameters.readyForward();
    fillTables(model, buffers, parts);
    const { layer, positions } = buffers;
    kernels.gatherRows(rows, shape.width, buffers.tokens, parameters.embedding.at, layer.x);
    const layerBytes = cache.rows * 2 * model.widths.kv * 4;
    const attend = (index: number) => attendParts(model, buffers, cache.at + index * layerBytes, parts);
    for (let index = 0; index < shape.layers; index++) {
      runLayer(model, index, { rows, positions, buffers: layer }, attend);
    }
    scoreLastRows(model, buffers, parts.length);
    return buffers;
  }

  #buffersFor(rows: number, parts: number): Buffers {
    const old = this.#buffers;
    if (old !== null && rows <= old.rows && parts <= old.parts) return old;
    const size = { rows: Math.max(rows, old?.rows ?? 0), parts: Math.max(parts, old?.parts ?? 0) };
    const measure = new Cursor(0);
    layOut(this.model, size, measure);
    this.#buffers = layOut(this.model, size, new Cursor(this.#workspace.reserve(measure.taken)));
    return this.#buffers;
  }
}

function layOut({ shape, widths }: Model, size: { rows: number; parts: number }, cursor: Cursor): Buffers {
  const { width, feedForward, heads, context } = shape;
  const { rows, parts } = size;
  const x = cursor.take(rows * width);
  const normed = cursor.take(rows * width);
  const scale = cursor.take(rows);
  return {
    ...size,
    tokens: cursor.take(rows),
    positions: cursor.take(rows),
    lastRows: cursor.take(parts),
    spans: cursor.take(parts * spanSize),
    layer: {
      x,
      normed,
      normScale: scale,
      qkv: cursor.take(rows * widths.qkv),
      p: cursor.take(heads * Math.min(rows, context) * Math.ceil(context / 4) * 4),
      attended: cursor.take(rows * width),
      middle: x,
      middleNormed: normed,
      middleScale: scale,
      gateUp: cursor.take(rows * 2 * feedForward),
      activated: cursor.take(rows * feedForward),
      next: x,
    },
    headX: cursor.take(parts * width),
    headNormed: cursor.take(parts * width),
    headScale: cursor.take(parts),
    scores: cursor.take(parts * widths.scores),
    entropies: cursor.take(parts),
  };
}

function fillTables({ kernels }: Model, buffers: Buffers, parts: readonly Part[]): void {
  const { i32 } = kernels.heap;
  let row = 0;
  for (let index = 0; index < parts.length; index++) {
    const { tokens, shared, sharedRows, own, ownBefore } = parts[index]!;
    const queries = tokens.length;
    const before = sharedRows + ownBefore;
    const pRow = Math.ceil((before + queries) / 4) * 4;
    // One span's probabilities may overwrite those of another: nobody reads them again.
    const span = { queries, row, shared, sharedRows, own, ownBefore, p: 0, pRow };
    writeSpan(kernels.heap, buffers.spans + index * spanSize * 4, span);
    for (let i = 0; i < queries; i++, row++) {
      i32[buffers.tokens / 4 + row] = tokens[i]!;
      i32[buffers.positions / 4 + row] = before + i;
    }
    i32[buffers.lastRows / 4 + index] = row - 1;
  }
}

/** Appends the parts' keys and values to the cache, and attends over it. */
function attendParts(model: Model, { layer, spans }: Buffers, keys: number, parts: readonly Part[]): void {
  const { kernels, shape, widths, cachedAttention } = model;
  const kvRow = 2 * widths.kv;
  const rowAt = (row: number) => keys + row * kvRow * 4;
  kernels.appendKeys(cachedAttention, spans, parts.length, layer.qkv + shape.width * 4, keys);
  // In order: what is copied may be a copy.
  for (const { own, ownBefore, copyOf } of parts) {
    if (copyOf !== undefined) kernels.copy(ownBefore * kvRow, rowAt(copyOf), rowAt(own));
  }
  kernels.attention(cachedAttention, spans, parts.length, layer.qkv, keys, layer.p, layer.attended);
}

function scoreLastRows(model: Model, buffers: Buffers, rows: number): void {
  const { kernels, shape, parameters } = model;
  const { headX, headNormed, headScale, scores } = buffers;
  kernels.gatherRows(rows, shape.width, buffers.lastRows, buffers.layer.next, headX);
  kernels.rmsNorm(rows, shape.width, headX, parameters.finalNorm.at, headNormed, headScale, shape.normEpsilon);
  multiply(kernels, parameters.head.forward, rows, headNormed, scores, 0);
}
