import { Cursor, Workspace } from '../kernels/workspace.js';
import type { LayerBuffers } from './layer.js';
import type { Model } from './model.js';
import { RetainedTokens } from './retained-tokens.js';

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

/** The cache of one prompt, under one version of the weights, and what it holds of each sequence. */
type Retained = {
  readonly version: number;
  readonly prompt: Int32Array;
  readonly state: DecoderState;
  readonly sequences: readonly RetainedTokens[];
};

/** Room for one decoder at a time; the next one takes it over, with what is still true of it. */
export class DecodingMemory {
  readonly #model: Model;
  readonly #stateSpace: Workspace;
  readonly #bufferSpace: Workspace;
  #buffers: DecoderBuffers | null = null;
  #retained: Retained | null = null;
  /** Counts decoders: only the newest may be used. */
  generation = 0;

  constructor(model: Model) {
    this.#model = model;
    this.#stateSpace = new Workspace(model.kernels.heap);
    this.#bufferSpace = new Workspace(model.kernels.heap);
  }

  /**
   * Room for `sequences` sequences up to the model's context. Memory that is never written costs only addresses.
   *
   * @returns `known`: whether the prompt's keys and values are there already.
   */
  begin(prompt: Int32Array, sequences: number): Retained & { readonly known: boolean } {
    this.generation++;
    const { version } = this.#model.parameters;
    const old = this.#retained;
    if (old?.version === version && old.sequences.length === sequences && sameTokens(old.prompt, prompt)) {
      return { ...old, known: true };
    }
    const lay = (cursor: Cursor) => layOutState(this.#model, prompt.length, sequences, cursor);
    const measure = new Cursor(0);
    lay(measure);
    const state = lay(new Cursor(this.#stateSpace.reserve(measure.taken)));
    const fresh = Array.from({ length: sequences }, () => new RetainedTokens());
    this.#retained = { version, prompt: prompt.slice(), state, sequences: fresh };
    return { ...this.#retained, known: false };
  }

  buffersFor(rows: number): DecoderBuffers {
    if (this.#buffers !== null && rows <= this.#buffers.rows) return this.#buffers;
    const measure = new Cursor(0);
    layOutBuffers(this.#model, rows, measure);
    this.#buffers = layOutBuffers(this.#model, rows, new Cursor(this.#bufferSpace.reserve(measure.taken)));
    return this.#buffers;
  }
}

function sameTokens(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((token, index) => token === b[index]);
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
