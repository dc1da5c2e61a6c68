import { UserError } from '../../../base/user-error.js';
import type { Decoder, ModelShape } from '../engine.js';
import { checkToken, checkTokens } from '../model/batch.js';
import { runTokens, type Cache, type Part } from './inference.js';
import { read, type Model } from './model.js';

/** The one cache of an engine's decoders. */
export class DecodingMemory {
  /** The newest decoder. */
  holder: Decoding | null = null;
  #cache: Cache | null = null;
  readonly #model: Model;

  constructor(model: Model) {
    this.#model = model;
  }

  get cache(): Cache | null {
    return this.#cache;
  }

  set cache(cache: Cache | null) {
    if (this.#cache !== null) this.#model.device.free(this.#cache.layers);
    this.#cache = cache;
  }
}

/**
 * Sequences that grow from one prompt. Keys and values stay on the device; the scores of the next tokens come here, one
 * read for each `extend`: tokens are drawn by inverse CDF in double precision, as the other engine draws them.
 */
export class Decoding implements Decoder {
  readonly sequences: number;
  readonly #model: Model;
  readonly #memory: DecodingMemory;
  readonly #version: number;
  readonly #promptLength: number;
  /** For each sequence the rows of the cache that hold its tokens, the prompt's first. */
  readonly #rows: number[][];
  /** Log-probabilities of each sequence's next token. */
  readonly #logprobs: Float32Array[];

  private constructor(model: Model, memory: DecodingMemory, promptLength: number, sequences: number) {
    this.sequences = sequences;
    this.#model = model;
    this.#memory = memory;
    this.#version = model.parameters.version;
    this.#promptLength = promptLength;
    const prompt = Array.from({ length: promptLength }, (_, row) => row);
    this.#rows = Array.from({ length: sequences }, () => prompt.slice());
    this.#logprobs = [];
  }

  static async begin(model: Model, memory: DecodingMemory, prompt: Int32Array, sequences: number): Promise<Decoding> {
    checkTokens(model.shape, prompt, 'A prompt');
    checkCount(sequences);
    checkContext(model.shape, prompt.length);
    const decoding = new Decoding(model, memory, prompt.length, sequences);
    memory.holder = decoding;
    memory.cache = null;
    const [scores] = await decoding.#run([{ rows: prompt.length, position: 0, seen: [] }], prompt);
    for (let s = 0; s < sequences; s++) decoding.#logprobs.push(scores!);
    return decoding;
  }

  async extend(tokens: readonly (readonly number[])[]): Promise<void> {
    this.#checkAlive();
    this.#checkExtension(tokens);
    const parts: Part[] = [];
    const extended: number[] = [];
    let row = this.#memory.cache!.rows;
    tokens.forEach(({ length }, sequence) => {
      if (length === 0) return;
      const own = this.#rows[sequence]!;
      parts.push({ rows: length, position: own.length, seen: own.slice() });
      extended.push(sequence);
      for (let i = 0; i < length; i++) own.push(row++);
    });
    if (parts.length === 0) return;
    const scores = await this.#run(parts, tokens.flat());
    extended.forEach((sequence, part) => (this.#logprobs[sequence] = scores[part]!));
  }

  async sample(
    uniforms: readonly number[],
    temperature: number,
  ): Promise<{ tokens: Int32Array; logprobs: Float32Array }> {
    this.#checkAlive();
    checkDraw(uniforms, temperature, this.sequences);
    const tokens = new Int32Array(this.sequences).fill(-1);
    const logprobs = new Float32Array(this.sequences);
    uniforms.forEach((uniform, s) => {
      if (Number.isNaN(uniform)) return;
      tokens[s] = draw(this.#logprobs[s]!, uniform, temperature);
      logprobs[s] = this.#logprobs[s]![tokens[s]]!;
    });
    return { tokens, logprobs };
  }

  async logprobs(): Promise<Float32Array> {
    this.#checkAlive();
    const { vocabulary } = this.#model.shape;
    const all = new Float32Array(this.sequences * vocabulary);
    this.#logprobs.forEach((row, s) => all.set(row, s * vocabulary));
    return all;
  }

  /** Runs the parts, keeps their keys and values, and gives the scores after each. */
  async #run(parts: readonly Part[], tokens: ArrayLike<number>): Promise<Float32Array[]> {
    const { device, shape } = this.#model;
    const { cache, logprobs } = device.run(() => runTokens(this.#model, this.#memory.cache, parts, device.ids(tokens)));
    this.#memory.cache = cache;
    const values = await read(logprobs);
    return parts.map((_, part) => values.slice(part * shape.vocabulary, (part + 1) * shape.vocabulary));
  }

  #checkExtension(tokens: readonly (readonly number[])[]): void {
    if (tokens.length !== this.sequences) throw wrongCount('lists of tokens', tokens.length, this.sequences);
    tokens.forEach((added, sequence) => {
      checkContext(this.#model.shape, this.#rows[sequence]!.length + added.length);
      for (const token of added) checkToken(this.#model.shape, token, 'A continuation');
    });
  }

  #checkAlive(): void {
    if (this.#memory.holder !== this) {
      throw new UserError('This decoder has ended: a newer one was made.', 'Use one decoder of an engine at a time.');
    }
    if (this.#version === this.#model.parameters.version) return;
    throw new UserError(
      'This decoder has ended: the weights have changed since it began.',
      'Make a new decoder after changing the weights.',
    );
  }
}

/** The token where the running sum of p^(1/temperature) passes `uniform` of its total; at 0 the first of the likeliest. */
function draw(logprobs: Float32Array, uniform: number, temperature: number): number {
  const top = logprobs.reduce((most, logprob) => Math.max(most, logprob), -Infinity);
  if (temperature === 0) return logprobs.indexOf(top);
  const weights = Float64Array.from(logprobs, (logprob) => Math.exp((logprob - top) / temperature));
  const goal = uniform * weights.reduce((sum, weight) => sum + weight, 0);
  let running = 0;
  // Rounding may leave the goal above the last running sum: then it is the last token that has any weight.
  let last = 0;
  for (let token = 0; token < weights.length && running <= goal; token++) {
    if (weights[token] === 0) continue;
    last = token;
    running += weights[token]!;
  }
  return last;
}

function checkCount(sequences: number): void {
  if (Number.isSafeInteger(sequences) && sequences > 0) return;
  throw new UserError(`A decoder cannot have ${sequences} sequences.`, 'Ask for a whole number above 0.');
}

function checkContext({ context }: ModelShape, length: number): void {
  if (length <= context) return;
  throw new UserError(
    `A sequence of ${length} tokens is longer than the model's context, ${context}.`,
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
