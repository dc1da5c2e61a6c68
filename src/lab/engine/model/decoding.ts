import { UserError } from '../../../base/user-error.js';
import type { Decoder } from '../engine.js';
import { checkToken, checkTokens } from './batch.js';
import type { DecodingMemory, Slot } from './decoding-memory.js';
import type { Inference, Part } from './inference.js';
import type { Model } from './model.js';

/**
 * Sequences that grow from one prompt. The prompt's keys and values are kept once; each sequence keeps its own.
 *
 * A decoder belongs to the weights it began with. What it is, is its tokens: keys and values lie in a slot, which other
 * decoders may take, and come back from the tokens. As long as the weights stay, tokens that any decoder of the prompt
 * has seen in the same place are not computed again.
 */
export class Decoding implements Decoder {
  readonly sequences: number;
  readonly #model: Model;
  readonly #inference: Inference;
  readonly #memory: DecodingMemory;
  readonly #version: number;
  readonly #prompt: Int32Array;
  /** Own tokens of each sequence so far. */
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
    this.#ready();
  }

  async extend(tokens: readonly (readonly number[])[]): Promise<void> {
    this.#checkAlive();
    this.#checkExtension(tokens);
    const slot = this.#ready();
    const advanced = this.#advance(slot, this.#tokens, tokens);
    tokens.forEach((added, sequence) => {
      this.#tokens[sequence]!.push(...added);
      if (added.length > 0 && !advanced.has(sequence)) this.#recall(slot, sequence);
    });
  }

  async sample(
    uniforms: readonly number[],
    temperature: number,
  ): Promise<{ tokens: Int32Array; logprobs: Float32Array }> {
    this.#checkAlive();
    checkDraw(uniforms, temperature, this.sequences);
    const { logprobs: table, scratch } = this.#ready();
    const { kernels, shape, widths } = this.#model;
    const tokens = new Int32Array(this.sequences).fill(-1);
    const logprobs = new Float32Array(this.sequences);
    for (let s = 0; s < this.sequences; s++) {
      if (Number.isNaN(uniforms[s])) continue;
      const row = table + s * widths.scores * 4;
      const token = kernels.sample(shape.vocabulary, widths.scores, row, uniforms[s]!, 1 / temperature, scratch);
      tokens[s] = token;
      logprobs[s] = kernels.heap.f32[row / 4 + token]!;
    }
    return { tokens, logprobs };
  }

  async logprobs(): Promise<Float32Array> {
    this.#checkAlive();
    const { logprobs } = this.#ready();
    const { vocabulary } = this.#model.shape;
    const all = new Float32Array(this.sequences * vocabulary);
    for (let s = 0; s < this.sequences; s++) {
      all.set(this.#scoresAt(logprobs, s).subarray(0, vocabulary), s * vocabulary);
    }
    return all;
  }

  /** The slot, in the state that this decoder's tokens leave it in. */
  #ready(): Slot {
    if (this.#slot?.holder === this) return this.#slot;
    const { slot, known } = this.#memory.slotFor(this.#prompt, this.sequences);
    this.#slot = slot;
    slot.holder = this;
    if (!known) this.#readPrompt(slot);
    const nothing = this.#tokens.map(() => []);
    const advanced = this.#advance(slot, nothing, this.#tokens);
    for (let s = 0; s < this.sequences; s++) if (!advanced.has(s)) this.#recall(slot, s);
    return slot;
  }

  #readPrompt({ cache, sequences }: Slot): void {
    const part = { tokens: this.#prompt, shared: 0, sharedRows: 0, own: 0, ownBefore: 0 };
    const scores = this.#run(cache, [part]);
    for (const sequence of sequences) sequence.keep(0, this.#scoresAt(scores, 0));
  }

  /**
   * Computes what the slot does not hold of `tokens`, put after `before`.
   *
   * @returns The sequences of which anything was computed; their next-token scores are in the slot.
   */
  #advance(slot: Slot, before: readonly number[][], tokens: readonly (readonly number[])[]): ReadonlySet<number> {
    const computed = new Set<number>();
    const parts: Part[] = [];
    tokens.forEach((added, sequence) => {
      const length = before[sequence]!.length;
      const unseen = unseenOf(slot, sequence, length, added);
      if (unseen.length === 0) return;
      computed.add(sequence);
      const place = { shared: 0, sharedRows: this.#prompt.length, own: slot.ownRows[sequence]! };
      parts.push({ ...place, tokens: unseen, ownBefore: length + added.length - unseen.length });
    });
    if (parts.length === 0) return computed;
    const scores = this.#run(slot.cache, parts);
    let part = 0;
    for (const sequence of computed) {
      const { tokens: added, ownBefore } = parts[part]!;
      const row = this.#scoresAt(scores, part++);
      slot.sequences[sequence]!.replace(ownBefore, Array.from(added));
      slot.sequences[sequence]!.keep(ownBefore + added.length, row);
      this.#scoresAt(slot.logprobs, sequence).set(row);
    }
    return computed;
  }

  /** Runs the parts and gives the address of their log-probabilities. */
  #run(cache: Slot['cache'], parts: readonly Part[]): number {
    const { kernels, shape, widths } = this.#model;
    const { scores, entropies } = this.#inference.run(cache, parts);
    kernels.logSoftmax(parts.length, shape.vocabulary, widths.scores, scores, entropies);
    return scores;
  }

  /** Takes the scores after a sequence's tokens from what is retained; they must be there. */
  #recall(slot: Slot, sequence: number): void {
    const scores = slot.sequences[sequence]!.scoresAfter(this.#tokens[sequence]!.length)!;
    this.#scoresAt(slot.logprobs, sequence).set(scores);
  }

  #scoresAt(table: number, row: number): Float32Array {
    const { kernels, widths } = this.#model;
    const from = table / 4 + row * widths.scores;
    return kernels.heap.f32.subarray(from, from + widths.scores);
  }

  #checkExtension(tokens: readonly (readonly number[])[]): void {
    if (tokens.length !== this.sequences) throw wrongCount('lists of tokens', tokens.length, this.sequences);
    tokens.forEach((added, sequence) => {
      checkContext(this.#model, this.#prompt.length + this.#tokens[sequence]!.length + added.length);
      for (const token of added) checkToken(this.#model.shape, token, 'A continuation');
    });
  }

  #checkAlive(): void {
    if (this.#version === this.#model.parameters.version) return;
    throw new UserError(
      'This decoder has ended: the weights have changed since it began.',
      'Make a new decoder after changing the weights.',
    );
  }
}

/** Of `tokens`, put after the sequence's first `length`, those that the slot does not hold, and the last for its scores. */
function unseenOf({ sequences }: Slot, sequence: number, length: number, tokens: readonly number[]): readonly number[] {
  const retained = sequences[sequence]!;
  const same = retained.match(length, tokens);
  const isWhole = same === tokens.length && retained.scoresAfter(length + same) !== undefined;
  return isWhole ? [] : tokens.slice(Math.min(same, tokens.length - 1));
}

/** What may be asked of a decoder; everything else is refused before it does harm. */

function checkCount(sequences: number): void {
  if (Number.isSafeInteger(sequences) && sequences > 0) return;
  throw new UserError(`A decoder cannot have ${sequences} sequences.`, 'Ask for a whole number above 0.');
}

function checkContext({ shape }: Model, length: number): void {
  if (length <= shape.context) return;
  throw new UserError(
    `A sequence of ${length} tokens is longer than the model's context, ${shape.context}.`,
    `Stop the sequence earlier, or make the model with \`context\` ${length} or more.`,
  );
}

function checkDraw(uniforms: readonly number[], temperature: number, sequences: number): void {
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
