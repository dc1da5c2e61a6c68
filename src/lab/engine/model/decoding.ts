import { UserError } from '../../../base/user-error.js';
import type { Decoder } from '../engine.js';
import { multiply } from '../kernels/matrices.js';
import { checkToken, checkTokens } from './batch.js';
import type { DecoderBuffers, DecoderState, DecodingMemory } from './decoding-memory.js';
import { runLayer } from './layer.js';
import type { Model } from './model.js';
import type { RetainedTokens } from './retained-tokens.js';

/** New tokens of one sequence in a pass: their rows, the rows they may see first, and where their own keys go. */
type Part = {
  readonly sequence: number;
  readonly tokens: ArrayLike<number>;
  readonly row: number;
  readonly rows: number;
  /** Position of the first. */
  readonly position: number;
  readonly sharedRows: number;
  /** Address of the prompt's cache in layer 0, and floats from there to the next layer's; `own` likewise. */
  readonly shared: number;
  readonly sharedLayer: number;
  readonly own: number;
  readonly ownLayer: number;
  readonly ownBefore: number;
};

/**
 * Sequences that grow from one prompt. The prompt's keys and values are kept once; each sequence keeps its own.
 * A decoder belongs to the weights it began with, and ends when the next one takes its memory. As long as the weights
 * stay, tokens that an earlier decoder of the prompt has seen in the same place are not computed again.
 */
export class Decoding implements Decoder {
  readonly sequences: number;
  readonly #model: Model;
  readonly #memory: DecodingMemory;
  readonly #generation: number;
  readonly #version: number;
  readonly #state: DecoderState;
  readonly #retained: readonly RetainedTokens[];
  readonly #promptLength: number;
  /** Own tokens of each sequence so far. */
  readonly #lengths: number[];

  constructor(model: Model, memory: DecodingMemory, prompt: Int32Array, sequences: number) {
    checkTokens(model.shape, prompt, 'A prompt');
    checkCount(sequences);
    checkContext(model, prompt.length);
    this.sequences = sequences;
    this.#model = model;
    this.#memory = memory;
    this.#version = model.parameters.version;
    this.#promptLength = prompt.length;
    this.#lengths = new Array<number>(sequences).fill(0);
    const { state, sequences: retained, known } = memory.begin(prompt, sequences);
    this.#state = state;
    this.#retained = retained;
    this.#generation = memory.generation;
    model.parameters.readyForward();
    if (!known) this.#readPrompt(prompt);
    for (let s = 0; s < sequences; s++) this.#recall(s, 0);
  }

  async extend(tokens: readonly (readonly number[])[]): Promise<void> {
    this.#checkAlive();
    this.#checkExtension(tokens);
    const parts = this.#plan(tokens);
    const buffers = parts.length > 0 ? this.#run(parts) : null;
    parts.forEach(({ sequence, tokens: added, ownBefore }, index) => {
      const scores = this.#scoresAt(buffers!.scores, index);
      this.#retained[sequence]!.replace(ownBefore, Array.from(added));
      this.#retained[sequence]!.keep(ownBefore + added.length, scores);
      this.#scoresAt(this.#state.logprobs, sequence).set(scores);
    });
    tokens.forEach((added, sequence) => (this.#lengths[sequence]! += added.length));
    for (let s = 0; s < this.sequences; s++) {
      if (tokens[s]!.length > 0 && !parts.some(({ sequence }) => sequence === s)) this.#recall(s, this.#lengths[s]!);
    }
  }

  async sample(
    uniforms: readonly number[],
    temperature: number,
  ): Promise<{ tokens: Int32Array; logprobs: Float32Array }> {
    this.#checkAlive();
    checkDraw(uniforms, temperature, this.sequences);
    const { kernels, shape, widths } = this.#model;
    const tokens = new Int32Array(this.sequences).fill(-1);
    const logprobs = new Float32Array(this.sequences);
    for (let s = 0; s < this.sequences; s++) {
      if (Number.isNaN(uniforms[s])) continue;
      const row = this.#state.logprobs + s * widths.scores * 4;
      const { scratch } = this.#state;
      const token = kernels.sample(shape.vocabulary, widths.scores, row, uniforms[s]!, 1 / temperature, scratch);
      tokens[s] = token;
      logprobs[s] = kernels.heap.f32[row / 4 + token]!;
    }
    return { tokens, logprobs };
  }

  async logprobs(): Promise<Float32Array> {
    this.#checkAlive();
    const { shape, widths, kernels } = this.#model;
    const all = new Float32Array(this.sequences * shape.vocabulary);
    for (let s = 0; s < this.sequences; s++) {
      const from = this.#state.logprobs / 4 + s * widths.scores;
      all.set(kernels.heap.f32.subarray(from, from + shape.vocabulary), s * shape.vocabulary);
    }
    return all;
  }

  #readPrompt(prompt: Int32Array): void {
    const { prompt: own, promptLayer: ownLayer } = this.#state;
    const start = { sequence: 0, row: 0, position: 0, ownBefore: 0, tokens: prompt };
    const part = { ...start, rows: prompt.length, own, ownLayer, shared: own, sharedLayer: ownLayer, sharedRows: 0 };
    const buffers = this.#run([part]);
    for (const sequence of this.#retained) sequence.keep(0, this.#scoresAt(buffers.scores, 0));
  }

  /** Takes the scores after `length` own tokens from what is retained; they must be there. */
  #recall(sequence: number, length: number): void {
    this.#scoresAt(this.#state.logprobs, sequence).set(this.#retained[sequence]!.scoresAfter(length)!);
  }

  #scoresAt(table: number, row: number): Float32Array {
    const { kernels, widths } = this.#model;
    const from = table / 4 + row * widths.scores;
    return kernels.heap.f32.subarray(from, from + widths.scores);
  }

  #checkExtension(tokens: readonly (readonly number[])[]): void {
    if (tokens.length !== this.sequences) throw wrongCount('lists of tokens', tokens.length, this.sequences);
    tokens.forEach((added, sequence) => {
      checkContext(this.#model, this.#promptLength + this.#lengths[sequence]! + added.length);
      for (const token of added) checkToken(this.#model.shape, token, 'A continuation');
    });
  }

  /** What has to be computed: of each sequence the tokens that its cache does not hold, and the last one for its scores. */
  #plan(tokens: readonly (readonly number[])[]): Part[] {
    const parts: Part[] = [];
    const { prompt: shared, promptLayer: sharedLayer, ownLayer, ownSequence } = this.#state;
    const sharedRows = this.#promptLength;
    let row = 0;
    for (let sequence = 0; sequence < tokens.length; sequence++) {
      const unseen = this.#unseen(sequence, tokens[sequence]!);
      const rows = unseen.length;
      if (rows === 0) continue;
      const ownBefore = this.#lengths[sequence]! + tokens[sequence]!.length - rows;
      const position = sharedRows + ownBefore;
      const own = this.#state.own + sequence * ownSequence * 4;
      const place = { shared, sharedLayer, sharedRows, own, ownLayer, ownBefore };
      parts.push({ sequence, tokens: unseen, row, rows, position, ...place });
      row += rows;
    }
    return parts;
  }

  #unseen(sequence: number, tokens: readonly number[]): readonly number[] {
    const retained = this.#retained[sequence]!;
    const length = this.#lengths[sequence]!;
    const same = retained.match(length, tokens);
    const isWhole = same === tokens.length && retained.scoresAfter(length + same) !== undefined;
    return isWhole ? [] : tokens.slice(Math.min(same, tokens.length - 1));
  }

  /** Runs the new tokens; leaves in `scores` the log-probabilities after each part's last, part by part. */
  #run(parts: readonly Part[]): DecoderBuffers {
    const model = this.#model;
    const { kernels, shape, parameters } = model;
    const last = parts[parts.length - 1]!;
    const rows = last.row + last.rows;
    const buffers = this.#memory.buffersFor(rows);
    fillTables(model, buffers, parts);
    const { layer, positions } = buffers;
    kernels.gatherRows(rows, shape.width, buffers.tokens, parameters.embedding.at, layer.x);
    const attend = (index: number) => {
      for (const part of parts) attendPart(model, buffers, part, index);
    };
    for (let index = 0; index < shape.layers; index++) {
      runLayer(model, index, { rows, positions, buffers: layer }, attend);
    }
    scoreLastRows(model, buffers, parts.length);
    return buffers;
  }

  #checkAlive(): void {
    if (this.#generation !== this.#memory.generation) {
      throw new UserError('This decoder has ended: a newer one was made.', 'Use one decoder of an engine at a time.');
    }
    if (this.#version === this.#model.parameters.version) return;
    throw new UserError(
      'This decoder has ended: the weights have changed since it began.',
      'Make a new decoder after changing the weights.',
    );
  }
}

function fillTables({ kernels }: Model, buffers: DecoderBuffers, parts: readonly Part[]): void {
  const { i32 } = kernels.heap;
  for (let p = 0; p < parts.length; p++) {
    const { tokens, row, rows, position } = parts[p]!;
    for (let i = 0; i < rows; i++) {
      i32[buffers.tokens / 4 + row + i] = tokens[i]!;
      i32[buffers.positions / 4 + row + i] = position + i;
    }
    i32[buffers.lastRows / 4 + p] = row + rows - 1;
  }
}

/** Appends the part's keys and values to its cache, and attends over the prompt's and its own. */
function attendPart(model: Model, { layer }: DecoderBuffers, part: Part, index: number): void {
  const { kernels, shape, widths, scoreScale } = model;
  const { width } = shape;
  const { row, rows, sharedRows, ownBefore } = part;
  const queries = layer.qkv + row * widths.qkv * 4;
  const own = part.own + index * part.ownLayer * 4;
  const kvRow = 2 * widths.kv;
  for (let i = 0; i < rows; i++) {
    kernels.copy(kvRow, queries + (i * widths.qkv + width) * 4, own + (ownBefore + i) * kvRow * 4);
  }
  kernels.attention(
    shape.heads,
    shape.kvHeads,
    widths.head,
    rows,
    queries,
    widths.qkv,
    part.shared + index * part.sharedLayer * 4,
    sharedRows,
    own,
    ownBefore,
    kvRow,
    layer.p,
    Math.ceil((sharedRows + ownBefore + rows) / 4) * 4,
    layer.attended + row * width * 4,
    width,
    scoreScale,
  );
}

function scoreLastRows(model: Model, buffers: DecoderBuffers, rows: number): void {
  const { kernels, shape, widths, parameters } = model;
  const { headX, headNormed, headScale, scores, entropies } = buffers;
  kernels.gatherRows(rows, shape.width, buffers.lastRows, buffers.layer.next, headX);
  kernels.rmsNorm(rows, shape.width, headX, parameters.finalNorm.at, headNormed, headScale, shape.normEpsilon);
  multiply(kernels, parameters.head.forward, rows, headNormed, scores, 0);
  kernels.logSoftmax(rows, shape.vocabulary, widths.scores, scores, entropies);
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
