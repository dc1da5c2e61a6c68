import { Cursor, Workspace } from '../kernels/workspace.js';
import { type Cache, cacheSize } from './inference.js';
import type { PromptGroup } from '../engine.js';
import type { Model } from './model.js';
import { RetainedTokens } from './retained-tokens.js';
import { Tape } from './tape.js';

/**
 * Decoders whose keys and values are kept at a time, each of the present weights. More are not worth their memory: a
 * decoder that lost its slot computes it again when it is used.
 */
const MOST_SLOTS = 4;
/** Floats of keys and values of a slot for `generate`; more sequences are computed without one. */
const MOST_FLOATS = 2 ** 25;

/** The keys and values of one prompt and of sequences that follow it, under one version of the weights. */
export type Slot = {
  version: number;
  prompt: Int32Array;
  /** The prompt's tokens and their rows on the tape, without scores. */
  readonly promptTokens: RetainedTokens;
  /** Activations of the tokens in the cache. */
  readonly tape: Tape;
  /** Cache rows 0 … are the prompt's. */
  readonly cache: Cache;
  /** Tokens of each sequence that the cache holds, and the cache row where they begin. */
  readonly sequences: readonly RetainedTokens[];
  readonly ownRows: readonly number[];
  /** Log-probabilities of each sequence's next token, [sequences × scores], for the decoder that used the slot last. */
  readonly logprobs: number;
  /** Scratch for one row of scores. */
  readonly scratch: number;
  holder: object | null;
};

/** Rows of a tape. */
export type TapeRows = { readonly tape: Tape; readonly rows: readonly number[] };

/** Gives decoders their slots: the one that has computed the same before, else one that is not in use. */
export class DecodingMemory {
  readonly #model: Model;
  /** Least recently used first. */
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
    const place = this.#use(same >= 0 ? same : this.#free(prompt, sequences));
    if (same < 0) {
      const old = place.slot;
      if (old !== null) old.holder = null;
      if (old !== null && isAsLarge(old, prompt, sequences)) {
        begin(old, prompt, version);
      } else {
        place.slot = null;
        place.slot = newSlot(this.#model, prompt, sequences, place.space);
      }
    }
    const slot = place.slot!;
    return { slot, known: slot.sequences[0]!.scoresAfter(0) !== undefined };
  }

  /**
   * The prefix of the prompts that is worth a decoder of its own: a whole prompt that they share, or the prompt of an
   * earlier decoder of as many sequences, of which these prompts are the next turn. null when they share nothing, or
   * are too many.
   */
  rootOf(prompts: readonly Int32Array[]): Int32Array | null {
    const [first] = prompts;
    if (first === undefined || slotFloats(this.#model, first, prompts.length) > MOST_FLOATS) return null;
    if (prompts.every((prompt) => prompt === first || sameTokens(prompt, first))) return first;
    const { version } = this.#model.parameters;
    const roots = this.#slots.flatMap(({ slot }) =>
      slot?.version === version && slot.sequences.length === prompts.length ? [slot.prompt] : [],
    );
    const fitting = roots.filter((root) =>
      prompts.every((prompt) => sameTokens(prompt.subarray(0, root.length), root)),
    );
    return fitting.reduce<Int32Array | null>((best, root) => (root.length > (best?.length ?? 0) ? root : best), null);
  }

  /**
   * Rows of the tape that decoders of the present weights have kept for these tokens, whichever sequence computed
   * them.
   *
   * @returns null when not all are on one tape. `rows`: the tape's row of each token, those of the prompt first, then
   * those of each continuation but for its last, which nothing follows.
   */
  recall({ prompt, continuations }: PromptGroup): TapeRows | null {
    const { version } = this.#model.parameters;
    for (const { slot } of this.#slots) {
      if (slot?.version !== version || !sameTokens(slot.prompt, prompt)) continue;
      const rows = rowsOf(slot, prompt, continuations);
      if (rows !== null) return { tape: slot.tape, rows };
    }
    return null;
  }

  /**
   * A slot of the same size whose weights have changed, else a new one; when there are too many, one whose weights
   * have changed, else the least recently used.
   */
  #free(prompt: Int32Array, sequences: number): number {
    const isStale = (slot: Slot | null) => slot?.version !== this.#model.parameters.version;
    const fitting = this.#slots.findLastIndex(
      ({ slot }) => slot !== null && isStale(slot) && isAsLarge(slot, prompt, sequences),
    );
    if (fitting >= 0) return fitting;
    if (this.#slots.length < MOST_SLOTS)
      return this.#slots.push({ space: new Workspace(this.#model.kernels.heap), slot: null }) - 1;
    return Math.max(
      0,
      this.#slots.findLastIndex(({ slot }) => isStale(slot)),
    );
  }

  #use(index: number): { readonly space: Workspace; slot: Slot | null } {
    const [place] = this.#slots.splice(index, 1);
    this.#slots.push(place!);
    return place!;
  }
}

function rowsOf(slot: Slot, prompt: Int32Array, continuations: readonly Int32Array[]): number[] | null {
  if (!slot.promptTokens.hasRows(prompt, prompt.length)) return null;
  const rows: number[] = [];
  for (let i = 0; i < prompt.length; i++) rows.push(slot.promptTokens.rowOf(i));
  let next = 0;
  for (const tokens of continuations) {
    const count = tokens.length - 1;
    // Usually a sequence holds all tokens, in the same order.
    const sequence =
      slot.sequences[next++]?.hasRows(tokens, count) === true
        ? slot.sequences[next - 1]
        : slot.sequences.find((other) => other.hasRows(tokens, count));
    if (sequence === undefined) return null;
    for (let i = 0; i < count; i++) rows.push(sequence.rowOf(i));
  }
  return rows;
}

function isAsLarge(slot: Slot, prompt: Int32Array, sequences: number): boolean {
  return slot.sequences.length === sequences && slot.prompt.length === prompt.length;
}

/** Resets the slot for another prompt of the same length, or for other weights. */
function begin(slot: Slot, prompt: Int32Array, version: number): void {
  slot.version = version;
  slot.prompt = prompt.slice();
  slot.promptTokens.clear();
  slot.tape.clear();
  for (const sequence of slot.sequences) sequence.clear();
}

function sameTokens(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((token, index) => token === b[index]);
}

function slotFloats(model: Model, prompt: Int32Array, sequences: number): number {
  return cacheSize(model, prompt.length + sequences * (model.shape.context - prompt.length));
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
    tape: new Tape(model, rows, cursor),
  });
  const measure = new Cursor(0);
  lay(measure);
  return {
    ...lay(new Cursor(space.reserve(measure.taken))),
    version: parameters.version,
    prompt: prompt.slice(),
    promptTokens: new RetainedTokens(),
    sequences: Array.from({ length: sequences }, () => new RetainedTokens()),
    ownRows: Array.from({ length: sequences }, (_, s) => prompt.length + s * own),
    holder: null,
  };
}
