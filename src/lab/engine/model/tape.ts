import type { Cursor } from '../kernels/workspace.js';
import { fromRow, type LayerBuffers } from './layer.js';
import type { Model } from './model.js';
import { layerBuffers } from './training-buffers.js';

/** Floats of activations that one tape keeps: those of a training step of the memory task, not of an evaluation. */
const MOST_FLOATS = 2 ** 20;
/** Floats of attention probabilities, per row and head, that are allocated. */
const PROBABILITIES = 64;

/** Rows of a tape: the index of the first, the buffers of each layer, and where their probabilities begin. */
export type Stretch = { readonly row: number; readonly layers: readonly LayerBuffers[]; readonly p: number };

/**
 * The activations of tokens that decoders have computed, in the order of computation. A training step on the same
 * tokens and weights reuses them: it would compute the same bits. When the tape is full, later rows are not kept.
 */
export class Tape {
  readonly layers: readonly LayerBuffers[];
  /** Two i32 per row: offset of the first head's probabilities, and stride between heads, in floats. */
  readonly places: number;
  readonly heads: number;
  readonly #model: Model;
  readonly #capacity: number;
  #rows = 0;
  #p = 0;

  /** @param most Rows that could be wanted. */
  constructor(model: Model, most: number, cursor: Cursor) {
    this.#model = model;
    this.heads = model.shape.heads;
    this.#capacity = Math.min(most, Math.max(1, Math.floor(MOST_FLOATS / floatsPerRow(model))));
    this.places = cursor.take(2 * this.#capacity);
    const rows = this.#capacity;
    this.layers = layerBuffers(model, { rows, probabilities: probabilities(model, rows) }, cursor);
  }

  clear(): void {
    this.#rows = 0;
    this.#p = 0;
  }

  /** @param p Floats of their probabilities. @returns null when there is not enough room. */
  take(rows: number, p: number): Stretch | null {
    const row = this.#rows;
    const start = this.#p;
    if (row + rows > this.#capacity || start + p > probabilities(this.#model, this.#capacity)) return null;
    this.#rows += rows;
    this.#p += p;
    return { row, layers: this.layers.map((layer) => fromRow(this.#model, layer, row)), p: start };
  }

  /** Records the place of a row's probabilities. */
  place(row: number, start: number, perHead: number): void {
    const { i32 } = this.#model.kernels.heap;
    i32[this.places / 4 + 2 * row] = start;
    i32[this.places / 4 + 2 * row + 1] = perHead;
  }
}

function probabilities({ shape }: Model, rows: number): number {
  return rows * shape.heads * PROBABILITIES;
}

function floatsPerRow(model: Model): number {
  const { shape, widths } = model;
  const layer = 5 * shape.width + 2 + widths.qkv + 3 * shape.feedForward + probabilities(model, 1);
  return shape.layers * layer + shape.width;
}
