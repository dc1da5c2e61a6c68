import { multiply } from '../kernels/matrices.js';
import { spanSize, writeSpan } from '../kernels/records.js';
import { Cursor, Workspace } from '../kernels/workspace.js';
import { type LayerBuffers, runLayer } from './layer.js';
import type { Model } from './model.js';
import { type Pause, STEP } from './steps.js';
import type { Stretch, Tape } from './tape.js';

/** Rows of [keys | values], one per token; a row has the same number in every layer. */
export type Cache = {
  readonly at: number;
  /** Rows of one layer. */
  readonly rows: number;
};

/** New tokens of one sequence in a pass. Their keys and values are appended to the sequence's rows of the cache. */
export type Part = {
  readonly tokens: ArrayLike<number>;
  /** Cache rows that the sequence sees first: those of its prompt. */
  readonly shared: number;
  readonly sharedRows: number;
  /** Cache rows of its own; before the new tokens it has `ownBefore`. */
  readonly own: number;
  readonly ownBefore: number;
  /** The first own rows are copies of these rows, made in this pass: the prefix shared with another prompt. */
  readonly copyOf?: number;
};

/** Size of a pass. `probabilities`: floats of attention probabilities of one layer. */
type Size = { readonly rows: number; readonly parts: number; readonly probabilities: number };

/** Addresses of the results of one pass. All layers use the same buffers, unless they are kept on a tape. */
type Buffers = Size & {
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

/** Results of a pass: addresses, and the tape's row of the first token. */
type Scored = Pick<Buffers, 'scores' | 'entropies'> & { readonly row: number | null };

/** Floats of a cache of so many rows. */
export function cacheSize({ shape, widths }: Model, rows: number): number {
  return shape.layers * rows * 2 * widths.kv;
}

/** Tokens of a prompt that are computed in one step. */
export function tokensOfStep({ shape }: Model): number {
  const { width, feedForward, layers } = shape;
  return Math.max(LEAST_TOKENS, Math.floor(STEP / (layers * width * (4 * width + 3 * feedForward))));
}

/** Each pass reads all weights, which takes as long as to multiply so many rows by them. */
const LEAST_TOKENS = 32;

/** The forward pass without backward, token by token or many at once: shared by decoders and `generate`. */
export class Inference {
  readonly model: Model;
  readonly pause: Pause;
  readonly #workspace: Workspace;
  #buffers: Buffers | null = null;

  /** @param pause Called by decoders between the steps of long computations. */
  constructor(model: Model, pause: Pause) {
    this.model = model;
    this.pause = pause;
    this.#workspace = new Workspace(model.kernels.heap);
  }

  /**
   * Computes the parts, in order.
   *
   * @param tape Keeps the activations, if it has room. Row i of the parts' tokens is its row `row` + i.
   * @returns Valid until the next run. `scores`: unnormalised scores of the token after each part, a row per part.
   * `row` is null when nothing was kept.
   */
  run(cache: Cache, parts: readonly Part[], tape: Tape | null = null): Scored {
    const { model } = this;
    const { kernels, shape, parameters } = model;
    const size = sizeOf(model, parts);
    const { rows } = size;
    const buffers = this.#buffersFor(size);
    const kept = tape?.take(rows, size.probabilities) ?? null;
    parameters.readyForward();
    fillTables(model, buffers, parts, kept?.p ?? 0);
    if (kept !== null) notePlaces(tape!, kept, parts);
    const layerAt = (index: number) => kept?.layers[index] ?? buffers.layer;
    kernels.gatherRows(rows, shape.width, buffers.tokens, parameters.embedding.at, layerAt(0).x);
    const layerBytes = cache.rows * 2 * model.widths.kv * 4;
    const { positions, spans } = buffers;
    for (let index = 0; index < shape.layers; index++) {
      const layer = layerAt(index);
      const keys = cache.at + index * layerBytes;
      runLayer(model, index, { rows, positions, buffers: layer }, () =>
        attendParts(model, layer, parts, { spans, keys }),
      );
    }
    scoreLastRows(model, buffers, layerAt(shape.layers - 1).next, parts.length);
    return { scores: buffers.scores, entropies: buffers.entropies, row: kept?.row ?? null };
  }

  #buffersFor(needed: Size): Buffers {
    const old = this.#buffers;
    if (old !== null && holds(old, needed)) return old;
    const size = old === null ? needed : larger(old, needed);
    const measure = new Cursor(0);
    layOut(this.model, size, measure);
    this.#buffers = layOut(this.model, size, new Cursor(this.#workspace.reserve(measure.taken)));
    return this.#buffers;
  }
}

function holds(a: Size, b: Size): boolean {
  return a.rows >= b.rows && a.parts >= b.parts && a.probabilities >= b.probabilities;
}

function larger(a: Size, b: Size): Size {
  return {
    rows: Math.max(a.rows, b.rows),
    parts: Math.max(a.parts, b.parts),
    probabilities: Math.max(a.probabilities, b.probabilities),
  };
}

function sizeOf({ shape }: Model, parts: readonly Part[]): Size {
  let [rows, probabilities] = [0, 0];
  for (const part of parts) {
    rows += part.tokens.length;
    probabilities += shape.heads * part.tokens.length * probabilityRow(part);
  }
  return { rows, parts: parts.length, probabilities };
}

/** Floats of one row of a part's probabilities. */
function probabilityRow({ tokens, sharedRows, ownBefore }: Part): number {
  return Math.ceil((sharedRows + ownBefore + tokens.length) / 4) * 4;
}

function layOut({ shape, widths }: Model, size: Size, cursor: Cursor): Buffers {
  const { width, feedForward } = shape;
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
      p: cursor.take(size.probabilities),
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

/** @param p Where the probabilities begin: each part has its own, since parts may be computed at the same time. */
function fillTables({ kernels, shape }: Model, buffers: Buffers, parts: readonly Part[], p: number): void {
  const { i32 } = kernels.heap;
  let row = 0;
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!;
    const { tokens, shared, sharedRows, own, ownBefore } = part;
    const queries = tokens.length;
    const before = sharedRows + ownBefore;
    const pRow = probabilityRow(part);
    const span = { queries, row, shared, sharedRows, own, ownBefore, p, pRow };
    p += shape.heads * queries * pRow;
    writeSpan(kernels.heap, buffers.spans + index * spanSize * 4, span);
    for (let i = 0; i < queries; i++, row++) {
      i32[buffers.tokens / 4 + row] = tokens[i]!;
      i32[buffers.positions / 4 + row] = before + i;
    }
    i32[buffers.lastRows / 4 + index] = row - 1;
  }
}

function notePlaces(tape: Tape, kept: Stretch, parts: readonly Part[]): void {
  let { row, p } = kept;
  for (const part of parts) {
    const queries = part.tokens.length;
    const pRow = probabilityRow(part);
    for (let i = 0; i < queries; i++) tape.place(row++, p + i * pRow, queries * pRow);
    p += tape.heads * queries * pRow;
  }
}

/** Appends the parts' keys and values to the cache, and attends over it. */
function attendParts(
  model: Model,
  layer: LayerBuffers,
  parts: readonly Part[],
  { spans, keys }: { spans: number; keys: number },
): void {
  const { kernels, shape, widths, cachedAttention } = model;
  const kvRow = 2 * widths.kv;
  const rowAt = (row: number) => keys + row * kvRow * 4;
  kernels.appendKeys(cachedAttention, spans, parts.length, layer.qkv + shape.width * 4, keys);
  // The order matters: a source of a copy may itself be a copy.
  for (const { own, ownBefore, copyOf } of parts) {
    if (copyOf !== undefined) kernels.copy(ownBefore * kvRow, rowAt(copyOf), rowAt(own));
  }
  kernels.attention(cachedAttention, spans, parts.length, layer.qkv, keys, layer.p, layer.attended);
}

function scoreLastRows(model: Model, buffers: Buffers, last: number, rows: number): void {
  const { kernels, shape, parameters } = model;
  const { headX, headNormed, headScale, scores } = buffers;
  kernels.gatherRows(rows, shape.width, buffers.lastRows, last, headX);
  kernels.rmsNorm(rows, shape.width, headX, parameters.finalNorm.at, headNormed, headScale, shape.normEpsilon);
  multiply(kernels, parameters.head.forward, rows, headNormed, scores, 0);
}
