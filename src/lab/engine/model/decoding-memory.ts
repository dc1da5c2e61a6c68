import { Cursor, Workspace } from '../kernels/workspace.js';
import type { LayerBuffers } from './layer.js';
import type { Model } from './model.js';

/** What a decoder keeps from call to call. Cache rows are [keys | values] of one token; each layer has its own. */
export type DecoderState = {
  /** Keys and values of the prompt: layer by layer, `promptLayer` floats each. */
  readonly prompt: number;
  readonly promptLayer: number;
  /** Of each sequence's own tokens: layer by layer `ownLayer` floats, in these sequence by sequence `ownSequence`. */
  readonly own: number;
  readonly ownLayer: number;
  readonly ownSequence: number;
  /** Log-probabilities of each sequence's next token, [sequences × scores]. */
  readonly logprobs: number;
  /** One row of scores. */
  readonly scratch: number;
};

/** Scratch of one pass over `rows` new tokens. All layers use the same buffers. */
export type DecoderBuffers = {
  readonly rows: number;
  readonly tokens: number;
  readonly positions: number;
  readonly lastRows: number;
  readonly layer: LayerBuffers;
  readonly headX: number;
  readonly headNormed: number;
  readonly headScale: number;
  readonly scores: number;
  readonly entropies: number;
};

/** Room for one decoder at a time; the next one takes it over. */
export class DecodingMemory {
  readonly #model: Model;
  readonly #stateSpace: Workspace;
  readonly #bufferSpace: Workspace;
  #buffers: DecoderBuffers | null = null;
  /** Counts decoders: only the newest may be used. */
  generation = 0;

  constructor(model: Model) {
    this.#model = model;
    this.#stateSpace = new Workspace(model.kernels.heap);
    this.#bufferSpace = new Workspace(model.kernels.heap);
  }

  /**
   * Room for `sequences` sequences up to the model's context. Memory that is never written costs only addresses.
   */
  begin(promptLength: number, sequences: number): DecoderState {
    this.generation++;
    const lay = (cursor: Cursor) => layOutState(this.#model, promptLength, sequences, cursor);
    const measure = new Cursor(0);
    lay(measure);
    return lay(new Cursor(this.#stateSpace.reserve(measure.taken)));
  }

  buffersFor(rows: number): DecoderBuffers {
    if (this.#buffers !== null && rows <= this.#buffers.rows) return this.#buffers;
    const measure = new Cursor(0);
    layOutBuffers(this.#model, rows, measure);
    this.#buffers = layOutBuffers(this.#model, rows, new Cursor(this.#bufferSpace.reserve(measure.taken)));
    return this.#buffers;
  }
}

function layOutState({ shape, widths }: Model, promptLength: number, sequences: number, cursor: Cursor): DecoderState {
  const promptLayer = promptLength * 2 * widths.kv;
  const ownSequence = (shape.context - promptLength) * 2 * widths.kv;
  const ownLayer = sequences * ownSequence;
  return {
    prompt: cursor.take(shape.layers * promptLayer),
    promptLayer,
    logprobs: cursor.take(sequences * widths.scores),
    scratch: cursor.take(widths.scores),
    own: cursor.take(shape.layers * ownLayer),
    ownLayer,
    ownSequence,
  };
}

function layOutBuffers({ shape, widths }: Model, rows: number, cursor: Cursor): DecoderBuffers {
  const { width, feedForward, heads, context } = shape;
  const x = cursor.take(rows * width);
  const normed = cursor.take(rows * width);
  const scale = cursor.take(rows);
  return {
    rows,
    tokens: cursor.take(rows),
    positions: cursor.take(rows),
    lastRows: cursor.take(rows),
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
    headX: cursor.take(rows * width),
    headNormed: cursor.take(rows * width),
    headScale: cursor.take(rows),
    scores: cursor.take(rows * widths.scores),
    entropies: cursor.take(rows),
  };
}
