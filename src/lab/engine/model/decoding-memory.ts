import { Cursor, Workspace } from '../kernels/workspace.js';
import { type Cache, cacheSize } from './inference.js';
import type { Model } from './model.js';
import { RetainedTokens } from './retained-tokens.js';

/**
 * Decoders whose keys and values are kept at a time, each of the present weights. Memory for more is not worth having: one
 * that has lost its own computes them anew when it is used again.
 */
const MOST_SLOTS = 4;

/** The keys and values of one prompt and of sequences that follow it, under one version of the weights. */
export type Slot = {
  readonly version: number;
  readonly prompt: Int32Array;
  /** Cache rows 0 … are the prompt's. */
  readonly cache: Cache;
  /** What the cache holds of each sequence, and from which of its rows on. */
  readonly sequences: readonly RetainedTokens[];
  readonly ownRows: readonly number[];
  /** Log-probabilities of each sequence's next token, [sequences × scores], for the decoder that used the slot last. */
  readonly logprobs: number;
  /** One row of scores. */
  readonly scratch: number;
  holder: object | null;
};

/** Gives decoders their slots: the one that has computed the same before, else one that is no longer of use. */
export class DecodingMemory {
  readonly #model: Model;
  /** The one used last is the last. */
  #slots: { readonly space: Workspace; slot: Slot | null }[] = [];

  constructor(model: Model) {
    this.#model = model;
  }

  /** @returns `known`: whether the prompt's keys and values are there already. */
  slotFor(prompt: Int32Array, sequences: number): { readonly slot: Slot; readonly known: boolean } {
    const { version } = this.#model.parameters;
    const same = this.#slots.findIndex(
      ({ slot }) => slot?.version === version && slot.sequences.length === sequences && sameTokens(slot.prompt, prompt),
    );
    const place = this.#use(same >= 0 ? same : this.#free());
    if (same < 0) {
      if (place.slot !== null) place.slot.holder = null;
      place.slot = null;
      place.slot = newSlot(this.#model, prompt, sequences, place.space);
    }
    const slot = place.slot!;
    return { slot, known: slot.sequences[0]!.scoresAfter(0) !== undefined };
  }

  /** One of weights that are gone, else a new one, else the one that was not used for longest. */
  #free(): number {
    const stale = this.#slots.findLastIndex(({ slot }) => slot?.version !== this.#model.parameters.version);
    if (stale >= 0) return stale;
    if (this.#slots.length === MOST_SLOTS) return 0;
    return this.#slots.push({ space: new Workspace(this.#model.kernels.heap), slot: null }) - 1;
  }

  #use(index: number): { readonly space: Workspace; slot: Slot | null } {
    const [place] = this.#slots.splice(index, 1);
    this.#slots.push(place!);
    return place!;
  }
}

function sameTokens(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((token, index) => token === b[index]);
}

/** Room for sequences up to the model's context. Memory that is never written costs only addresses. */
function newSlot(model: Model, prompt: Int32Array, sequences: number, space: Workspace): Slot {
  const { shape, widths, parameters } = model;
  const own = shape.context - prompt.length;
  const rows = prompt.length + sequences * own;
  const lay = (cursor: Cursor) => ({
    logprobs: cursor.take(sequences * widths.scores),
    scratch: cursor.take(widths.scores),
    cache: { at: cursor.take(cacheSize(model, rows)), rows },
  });
  const measure = new Cursor(0);
  lay(measure);
  return {
    ...lay(new Cursor(space.reserve(measure.taken))),
    version: parameters.version,
    prompt: prompt.slice(),
    sequences: Array.from({ length: sequences }, () => new RetainedTokens()),
    ownRows: Array.from({ length: sequences }, (_, s) => prompt.length + s * own),
    holder: null,
  };
}
