import { blockRows, productScratch } from '../kernels/matrices.js';
import { spanSize } from '../kernels/records.js';
import { Cursor, Workspace } from '../kernels/workspace.js';
import type { Batch } from './batch.js';
import type { LayerBuffers } from './layer.js';
import type { Model } from './model.js';

/** The last forward pass, as the backward pass needs it. */
export type Pass = {
  readonly model: Model;
  readonly batch: Batch;
  readonly buffers: TrainingBuffers;
  readonly temperature: number;
  /** Version of the weights it was made with. */
  readonly version: number;
};

/**
 * Scores of more rows than this many floats (64 MiB) allow are computed in pieces, and again for the backward pass.
 */
export const mostScores = 2 ** 24;
/** Scores that are worked on at a time: they stay in the last cache. */
const SCORES_AT_ONCE = 2 ** 20;

/** How large a batch the buffers hold. */
type Capacity = {
  readonly rows: number;
  readonly headRows: number;
  readonly segments: number;
  readonly probabilities: number;
  readonly largestHead: number;
};

/** Addresses of everything that a training step keeps between forward and backward, and of its scratch. */
type TrainingBuffers = Capacity & {
  /** Head rows whose log-probabilities are kept. */
  readonly chunk: number;
  /** Head rows that are worked on at a time, at most `chunk`. */
  readonly piece: number;
  readonly tokens: number;
  readonly positions: number;
  readonly headRowIds: number;
  /** Rows of a tape, one i32 per row. */
  readonly tapeRows: number;
  /** Records of the batch's segments. */
  readonly spans: number;
  readonly layers: readonly LayerBuffers[];
  readonly headX: number;
  readonly headNormed: number;
  readonly headScale: number;
  /** Log-probabilities, [chunk × scores]. */
  readonly scores: number;
  /** Per head row. */
  readonly entropies: number;
  readonly dLogprobs: number;
  readonly dEntropies: number;

  /** [piece × scores] */
  readonly dScores: number;
  readonly dHeadNormed: number;
  readonly dHeadX: number;
  readonly dx: number;
  readonly dNormed: number;
  readonly dActivated: number;
  readonly dGateUp: number;
  readonly dQkv: number;
  readonly dP: number;
  readonly product: number;
};

/** Gives buffers for a batch: the last ones when they are large enough, else larger ones. */
export class TrainingMemory {
  readonly #model: Model;
  readonly #workspace: Workspace;
  readonly #keptScores: number;
  #buffers: TrainingBuffers | null = null;

  /** @param keptScores Replaces `mostScores`. */
  constructor(model: Model, keptScores: number) {
    this.#model = model;
    this.#keptScores = keptScores;
    this.#workspace = new Workspace(model.kernels.heap);
  }

  buffersFor(batch: Batch): TrainingBuffers {
    const old = this.#buffers;
    const needed = {
      rows: batch.tokens.length,
      headRows: batch.headRows.length,
      segments: batch.segments.length,
      probabilities: batch.probabilities,
      largestHead: batch.largestHead,
    };
    if (old !== null && fits(needed, old)) return old;
    const capacity = old === null ? needed : larger(needed, old);
    const lay = (cursor: Cursor) => layOut(this.#model, { capacity, keptScores: this.#keptScores }, cursor);
    const { size } = lay(new Cursor(0));
    const start = this.#workspace.reserve(size);
    this.#buffers = lay(new Cursor(start)).buffers;
    return this.#buffers;
  }
}

function fits(needed: Capacity, had: Capacity): boolean {
  return (
    needed.rows <= had.rows &&
    needed.headRows <= had.headRows &&
    needed.segments <= had.segments &&
    needed.probabilities <= had.probabilities &&
    needed.largestHead <= had.largestHead
  );
}

function larger(a: Capacity, b: Capacity): Capacity {
  return {
    rows: Math.max(a.rows, b.rows),
    headRows: Math.max(a.headRows, b.headRows),
    segments: Math.max(a.segments, b.segments),
    probabilities: Math.max(a.probabilities, b.probabilities),
    largestHead: Math.max(a.largestHead, b.largestHead),
  };
}

type Plan = { readonly capacity: Capacity; readonly keptScores: number };

function layOut(model: Model, plan: Plan, cursor: Cursor): { buffers: TrainingBuffers; size: number } {
  const { shape, widths } = model;
  const { capacity, keptScores } = plan;
  const { rows, headRows } = capacity;
  const { width, feedForward } = shape;
  const chunk = Math.min(headRows, rowsOf(keptScores, widths.scores));
  const piece = Math.min(chunk, rowsOf(SCORES_AT_ONCE, widths.scores));
  const tables = {
    tokens: cursor.take(rows),
    positions: cursor.take(rows),
    headRowIds: cursor.take(headRows),
    tapeRows: cursor.take(rows),
    spans: cursor.take(capacity.segments * spanSize),
    entropies: cursor.take(headRows),
    dLogprobs: cursor.take(headRows),
    dEntropies: cursor.take(headRows),
  };
  const layers = layerBuffers(model, capacity, cursor);
  const head = {
    headX: cursor.take(headRows * width),
    headNormed: cursor.take(headRows * width),
    headScale: cursor.take(headRows),
    scores: cursor.take(chunk * widths.scores),
    dScores: cursor.take(piece * widths.scores),
    dHeadNormed: cursor.take(headRows * width),
    dHeadX: cursor.take(headRows * width),
  };
  const scratch = {
    dx: cursor.take(rows * width),
    dNormed: cursor.take(rows * width),
    dActivated: cursor.take(rows * feedForward),
    dGateUp: cursor.take(rows * 2 * feedForward),
    dQkv: cursor.take(rows * widths.qkv),
    dP: cursor.take(capacity.largestHead),
    product: cursor.take(productScratch(Math.max(2 * feedForward, widths.qkv))),
  };
  return { buffers: { ...capacity, chunk, piece, ...tables, layers, ...head, ...scratch }, size: cursor.taken };
}

/**
 * Rows of `scores` floats that fit in `floats`: whole blocks of `addProduct` if one fits, so that the bits of the
 * head's gradient do not depend on how the rows are cut.
 */
function rowsOf(floats: number, scores: number): number {
  const rows = Math.floor(floats / scores);
  return rows < blockRows ? Math.max(1, rows) : rows - (rows % blockRows);
}

/** The buffers of each layer, one after the other; the output of a layer is the input of the next. */
export function layerBuffers(
  { shape, widths }: Model,
  { rows, probabilities }: Pick<Capacity, 'rows' | 'probabilities'>,
  cursor: Cursor,
): LayerBuffers[] {
  const { width, feedForward } = shape;
  let x = cursor.take(rows * width);
  return Array.from({ length: shape.layers }, () => {
    const buffers = {
      x,
      normed: cursor.take(rows * width),
      normScale: cursor.take(rows),
      qkv: cursor.take(rows * widths.qkv),
      p: cursor.take(probabilities),
      attended: cursor.take(rows * width),
      middle: cursor.take(rows * width),
      middleNormed: cursor.take(rows * width),
      middleScale: cursor.take(rows),
      gateUp: cursor.take(rows * 2 * feedForward),
      activated: cursor.take(rows * feedForward),
      next: cursor.take(rows * width),
    };
    x = buffers.next;
    return buffers;
  });
}
