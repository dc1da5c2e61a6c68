import type { Decoder } from '../engine.js';
import { checkTokens } from '../model/batch.js';
import { checkAlive, checkContext, checkCount, checkDraw, checkExtension } from '../model/decoding.js';
import { runTokens, type Cache, type Part } from './inference.js';
import { read, type Model } from './model.js';

/** The one cache of an engine's decoders: keys and values of the decoder used last. */
export class DecodingMemory {
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
 * Sequences that grow from one prompt. Keys and values stay on the device; the scores of the next tokens are read
 * back, once for each `extend`: tokens are drawn by inverse CDF in double precision, as the other engine draws them.
 * (`generate` draws on the device.) A decoder owns only its tokens. Another decoder may take over the cache; it is
 * rebuilt from the tokens when this one continues.
 */
export class Decoding implements Decoder {
  readonly sequences: number;
  readonly #model: Model;
  readonly #memory: DecodingMemory;
  readonly #version: number;
  readonly #prompt: Int32Array;
  /** Tokens of each sequence so far, without the prompt. */
  readonly #tokens: number[][];
  /** Rows of the cache that hold each sequence's tokens, the prompt's first. */
  #rows: number[][] = [];
  /** Log-probabilities of each sequence's next token. */
  #logprobs: Float32Array[] = [];

  private constructor(model: Model, memory: DecodingMemory, prompt: Int32Array, sequences: number) {
    this.sequences = sequences;
    this.#model = model;
    this.#memory = memory;
    this.#version = model.parameters.version;
    this.#prompt = prompt.slice();
    this.#tokens = Array.from({ length: sequences }, () => []);
  }

  static async begin(model: Model, memory: DecodingMemory, prompt: Int32Array, sequences: number): Promise<Decoding> {
    checkTokens(model.shape, prompt, 'A prompt');
    checkCount(sequences);
    checkContext(model, prompt.length);
    const decoding = new Decoding(model, memory, prompt, sequences);
    await decoding.#readPrompt();
    return decoding;
  }

  async extend(tokens: readonly (readonly number[])[]): Promise<void> {
    checkAlive(this.#version, this.#model.parameters);
    checkExtension(this.#model, tokens, this.#prompt.length, this.#tokens);
    if (this.#memory.holder !== this) {
      await this.#readPrompt();
      await this.#append(this.#tokens);
    }
    await this.#append(tokens);
    tokens.forEach((added, sequence) => this.#tokens[sequence]!.push(...added));
  }

  async sample(
    uniforms: readonly number[],
    temperature: number,
  ): Promise<{ tokens: Int32Array; logprobs: Float32Array }> {
    checkAlive(this.#version, this.#model.parameters);
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
    checkAlive(this.#version, this.#model.parameters);
    const { vocabulary } = this.#model.shape;
    const all = new Float32Array(this.sequences * vocabulary);
    this.#logprobs.forEach((row, s) => all.set(row, s * vocabulary));
    return all;
  }

  async #readPrompt(): Promise<void> {
    this.#memory.holder = this;
    this.#memory.cache = null;
    const prompt = Array.from({ length: this.#prompt.length }, (_, row) => row);
    this.#rows = Array.from({ length: this.sequences }, () => prompt.slice());
    const [scores] = await this.#run([{ rows: prompt.length, position: 0, seen: [] }], this.#prompt);
    this.#logprobs = Array.from({ length: this.sequences }, () => scores!);
  }

  async #append(tokens: readonly (readonly number[])[]): Promise<void> {
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

  /** Runs the parts, caches their keys and values, and returns the scores after each. */
  async #run(parts: readonly Part[], tokens: ArrayLike<number>): Promise<Float32Array[]> {
    const { device, shape } = this.#model;
    const { cache, logprobs } = device.run(() => runTokens(this.#model, this.#memory.cache, parts, device.ids(tokens)));
    this.#memory.cache = cache;
    const values = await read(logprobs);
    return parts.map((_, part) => values.slice(part * shape.vocabulary, (part + 1) * shape.vocabulary));
  }
}

/** The token where the running sum of p^(1/temperature) passes `uniform` of its total; at 0 the first of the likeliest. */
function draw(logprobs: Float32Array, uniform: number, temperature: number): number {
  const top = logprobs.reduce((most, logprob) => Math.max(most, logprob), -Infinity);
  if (temperature === 0) return logprobs.indexOf(top);
  const weights = Float64Array.from(logprobs, (logprob) => Math.exp((logprob - top) / temperature));
  const goal = uniform * weights.reduce((sum, weight) => sum + weight, 0);
  let running = 0;
  // Rounding may leave the goal above the last running sum: then the last token with any weight is taken.
  let last = 0;
  for (let token = 0; token < weights.length && running <= goal; token++) {
    if (weights[token] === 0) continue;
    last = token;
    running += weights[token]!;
  }
  return last;
}
