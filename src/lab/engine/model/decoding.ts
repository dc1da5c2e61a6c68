import { UserError } from '../../../base/user-error.js';
import type { Decoder } from '../engine.js';
import { checkToken, checkTokens } from './batch.js';
import type { DecodingMemory, Slot } from './decoding-memory.js';
import { type Inference, type Part, tokensOfStep } from './inference.js';
import type { Model } from './model.js';
import type { RetainedTokens } from './retained-tokens.js';
import { atOnce, partsOf, type Steps, withPauses } from './steps.js';

/**
 * Sequences that grow from one prompt. The prompt's keys and values are kept once; each sequence keeps its own.
 *
 * A decoder belongs to the weights it began with. It owns only its tokens. Keys and values lie in a slot, which other
 * decoders may take over; they are computed again from the tokens when this one continues. As long as the weights
 * stay, tokens that any decoder of the prompt has seen in the same place are not computed again.
 */
export class Decoding implements Decoder {
  readonly sequences: number;
  readonly #model: Model;
  readonly #inference: Inference;
  readonly #memory: DecodingMemory;
  readonly #version: number;
  readonly #prompt: Int32Array;
  /** Tokens of each sequence so far, without the prompt. */
  readonly #tokens: number[][];
  #slot: Slot | null = null;

  constructor(inference: Inference, memory: DecodingMemory, prompt: Int32Array, sequences: number) {
    const { model } = inference;
    checkTokens(model.shape, prompt, 'A prompt');
    checkCount(sequences);
    checkContext(model, prompt.length);
    this.sequences = sequences;
    this.#model = model;
    this.#inference = inference;
    this.#memory = memory;
    this.#version = model.parameters.version;
    this.#prompt = prompt.slice();
    this.#tokens = Array.from({ length: sequences }, () => []);
  }

  /** Computes the prompt step by step, with pauses; without this call the first use computes it in one go. */
  *begin(): Steps<void> {
    yield* this.#fill();
  }

  async extend(tokens: readonly (readonly number[])[]): Promise<void> {
    checkAlive(this.#version, this.#model.parameters);
    checkExtension(this.#model, tokens, this.#prompt.length, this.#tokens);
    await withPauses(this.advanceByParts(tokens), this.#inference.pause);
  }

  /** `extend` without its checks. */
  *advanceByParts(tokens: readonly (readonly number[])[]): Steps<void> {
    const most = Math.ceil(tokensOfStep(this.#model) / this.sequences);
    const longest = Math.max(...tokens.map(({ length }) => length));
    for (const { first } of partsOf({ first: 0, rows: longest }, most)) {
      this.advance(tokens.map((added) => added.slice(first, first + most)));
      yield;
    }
  }

  /** Appends tokens as `advanceByParts` does, without pauses. */
  advance(tokens: readonly (readonly number[])[]): void {
    this.#advance(this.#ready(), this.#tokens, tokens);
    for (let s = 0; s < this.sequences; s++) this.#tokens[s]!.push(...tokens[s]!);
  }

  async sample(
    uniforms: readonly number[],
    temperature: number,
  ): Promise<{ tokens: Int32Array; logprobs: Float32Array }> {
    checkAlive(this.#version, this.#model.parameters);
    checkDraw(uniforms, temperature, this.sequences);
    const tokens = new Int32Array(this.sequences).fill(-1);
    const logprobs = this.#model.kernels.heap.floats(this.sequences);
    for (let s = 0; s < this.sequences; s++) {
      if (Number.isNaN(uniforms[s])) continue;
      tokens[s] = this.draw(s, uniforms[s]!, temperature);
      logprobs[s] = this.logprobOf(s, tokens[s]!);
    }
    return { tokens, logprobs };
  }

  /** Draws the next token of a sequence by one uniform number. */
  draw(sequence: number, uniform: number, temperature: number): number {
    const { logprobs, scratch } = this.#ready();
    const { kernels, shape, widths } = this.#model;
    const row = logprobs + sequence * widths.scores * 4;
    return kernels.sample(shape.vocabulary, widths.scores, row, uniform, 1 / temperature, scratch);
  }

  /** Log-probability that the model gives a sequence's next token. */
  logprobOf(sequence: number, token: number): number {
    const { kernels, widths } = this.#model;
    return kernels.heap.f32[this.#ready().logprobs / 4 + sequence * widths.scores + token]!;
  }

  async logprobs(): Promise<Float32Array> {
    checkAlive(this.#version, this.#model.parameters);
    const { logprobs } = this.#ready();
    const { vocabulary } = this.#model.shape;
    const all = this.#model.kernels.heap.floats(this.sequences * vocabulary);
    for (let s = 0; s < this.sequences; s++) {
      all.set(this.#scoresAt(logprobs, s).subarray(0, vocabulary), s * vocabulary);
    }
    return all;
  }

  /** The slot, filled as this decoder's tokens demand. */
  #ready(): Slot {
    return this.#slot?.holder === this ? this.#slot : atOnce(this.#fill());
  }

  *#fill(): Steps<Slot> {
    const { slot, known } = this.#memory.slotFor(this.#prompt, this.sequences);
    this.#slot = slot;
    slot.holder = this;
    if (!known) yield* this.#readPrompt(slot);
    for (let s = 0; s < this.sequences; s++) this.#recall(slot, s, 0);
    const nothing: readonly number[] = [];
    if (this.#tokens.some(({ length }) => length > 0)) {
      this.#advance(
        slot,
        this.#tokens.map(() => nothing),
        this.#tokens,
      );
    }
    return slot;
  }

  *#readPrompt(slot: Slot): Steps<void> {
    const { sequences, promptTokens } = slot;
    let scores = 0;
    for (const { first, rows } of partsOf({ first: 0, rows: this.#prompt.length }, tokensOfStep(this.#model))) {
      if (first > 0) yield;
      const tokens = this.#prompt.subarray(first, first + rows);
      const read = this.#run(slot, [{ tokens, shared: 0, sharedRows: 0, own: 0, ownBefore: first }]);
      promptTokens.replace(first, tokens, read.row);
      ({ scores } = read);
    }
    for (const sequence of sequences) sequence.keep(0, this.#scoresAt(scores, 0));
  }

  /** Fills the slot with `tokens`, put after `before`: computes those that it does not hold. */
  #advance(slot: Slot, before: readonly (readonly number[])[], tokens: readonly (readonly number[])[]): void {
    const who: number[] = [];
    const parts: Part[] = [];
    const sharedRows = this.#prompt.length;
    for (let s = 0; s < this.sequences; s++) {
      const [length, added] = [before[s]!.length, tokens[s]!];
      if (added.length === 0) continue;
      const unseen = unseenOf(slot.sequences[s]!, length, added);
      const ownBefore = length + added.length - unseen.length;
      if (unseen.length === 0) {
        this.#recall(slot, s, ownBefore);
        continue;
      }
      who.push(s);
      parts.push({ tokens: unseen, shared: 0, sharedRows, own: slot.ownRows[s]!, ownBefore });
    }
    if (parts.length > 0) this.#compute(slot, who, parts);
  }

  /** Runs the parts and keeps their scores. @param who Index of the sequence that each part belongs to. */
  #compute(slot: Slot, who: readonly number[], parts: readonly Part[]): void {
    const { scores, row: first } = this.#run(slot, parts);
    let row = first;
    for (let part = 0; part < parts.length; part++) {
      const { tokens, ownBefore } = parts[part]!;
      const next = this.#scoresAt(scores, part);
      const retained = slot.sequences[who[part]!]!;
      retained.replace(ownBefore, tokens, row);
      retained.keep(ownBefore + tokens.length, next);
      this.#scoresAt(slot.logprobs, who[part]!).set(next);
      if (row !== null) row += tokens.length;
    }
  }

  /**
   * Runs the parts; returns the address of their log-probabilities, and the row of the first token on the slot's tape.
   */
  #run({ cache, tape }: Slot, parts: readonly Part[]): { scores: number; row: number | null } {
    const { kernels, shape, widths } = this.#model;
    const { scores, entropies, row } = this.#inference.run(cache, parts, tape);
    kernels.logSoftmax(parts.length, shape.vocabulary, widths.scores, scores, entropies);
    return { scores, row };
  }

  /** Copies the scores after `length` own tokens from the retained ones; they must be there. */
  #recall(slot: Slot, sequence: number, length: number): void {
    this.#scoresAt(slot.logprobs, sequence).set(slot.sequences[sequence]!.scoresAfter(length)!);
  }

  #scoresAt(table: number, row: number): Float32Array {
    const { kernels, widths } = this.#model;
    const from = table / 4 + row * widths.scores;
    return kernels.heap.f32.subarray(from, from + widths.scores);
  }
}

/**
 * The part of `tokens`, put after the first `length`, that is not retained, and the last token if its scores are not.
 */
function unseenOf(retained: RetainedTokens, length: number, tokens: readonly number[]): readonly number[] {
  const same = retained.match(length, tokens);
  const isWhole = same === tokens.length && retained.scoresAfter(length + same) !== undefined;
  return isWhole ? [] : tokens.slice(Math.min(same, tokens.length - 1));
}

// Checks of a decoder's arguments; each runs before any state changes.

export function checkCount(sequences: number): void {
  if (Number.isSafeInteger(sequences) && sequences > 0) return;
  throw new UserError(`A decoder cannot have ${sequences} sequences.`, 'Ask for a whole number above 0.');
}

export function checkContext({ shape }: Pick<Model, 'shape'>, length: number): void {
  if (length <= shape.context) return;
  throw new UserError(
    `A sequence of ${length} tokens is longer than the model's context, ${shape.context}.`,
    `Stop the sequence earlier, or make the model with \`context\` ${length} or more.`,
  );
}

/** @param own Tokens of each sequence so far, after the prompt. */
export function checkExtension(
  { shape }: Pick<Model, 'shape'>,
  tokens: readonly (readonly number[])[],
  promptLength: number,
  own: readonly (readonly number[])[],
): void {
  if (tokens.length !== own.length) throw wrongCount('lists of tokens', tokens.length, own.length);
  tokens.forEach((added, sequence) => {
    checkContext({ shape }, promptLength + own[sequence]!.length + added.length);
    for (const token of added) checkToken(shape, token, 'A continuation');
  });
}

/** @param begun Version of the parameters when the decoder began. */
export function checkAlive(begun: number, { version }: { readonly version: number }): void {
  if (begun === version) return;
  throw new UserError(
    'This decoder has ended: the weights have changed since it began.',
    'Make a new decoder after changing the weights.',
  );
}

export function checkDraw(uniforms: readonly number[], temperature: number, sequences: number): void {
  if (uniforms.length !== sequences) throw wrongCount('uniform numbers', uniforms.length, sequences);
  for (const uniform of uniforms) {
    if (Number.isNaN(uniform) || (uniform >= 0 && uniform < 1)) continue;
    throw new UserError(`${uniform} is not in [0, 1).`, 'Draw from a stream of uniform numbers, or give NaN to skip.');
  }
  if (temperature >= 0 && temperature < Infinity) return;
  throw new UserError(
    `The temperature ${temperature} is not a number from 0 up.`,
    'Use 1, or 0 for the likeliest token.',
  );
}

function wrongCount(what: string, given: number, wanted: number): UserError {
  return new UserError(`${given} ${what} were given for ${wanted} sequences.`, 'Give one for each sequence.');
}
