import { UserError } from '../../../base/user-error.js';
import type { Rng } from '../../rng.js';
import type {
  AdamOptions,
  Decoder,
  Engine,
  ForwardOptions,
  Generated,
  ModelShape,
  OptimizerState,
  PromptGroup,
  Sampling,
  SeededPrompt,
  TokenScores,
} from '../engine.js';
import { checkShape } from '../model-shape.js';
import { checkTokens } from '../model/batch.js';
import { checkAlive, checkContext, checkCount, checkDraw, checkExtension } from '../model/decoding.js';
import { noPause, type Pause, withPauses } from '../model/steps.js';
import { adamStep } from './adam.js';
import type { Device } from './device.js';
import { generate } from './generation.js';
import { type Model, readAndDispose } from './model.js';
import { Parameters } from './parameters.js';
import { rotationTables } from './rotation.js';
import { Training } from './training.js';
import { type Cache, type Part, runTokens } from './inference.js';

/** 128 MiB of floats: the default limit of a WebGPU buffer. */
const KEPT_SCORES = 2 ** 25;

/**
 * The LLaMA model on TensorFlow.js. Weights, optimizer and caches stay on the device; only results are read back.
 * Dispose of an engine before dropping it: the library knows nothing of garbage collection.
 */
export class TfjsEngine implements Engine {
  readonly backend: string;
  readonly shape: ModelShape;
  readonly parameterCount: number;
  readonly #model: Model;
  readonly #training: Training;
  readonly #decoding: DecodingMemory;

  /** All weights are zero until `loadWeights`. @throws UserError when the shape is invalid. */
  constructor(
    device: Device,
    shape: ModelShape,
    { keptScores = KEPT_SCORES, pause = noPause }: { keptScores?: number; pause?: Pause | undefined } = {},
  ) {
    checkShape(shape);
    this.backend = device.name;
    this.shape = shape;
    const parameters = new Parameters(device, shape);
    const rotation = device.run(() => rotationTables(device, shape));
    this.#model = { device, shape, parameters, rotation, keptScores, pause };
    this.parameterCount = parameters.count;
    this.#training = new Training(this.#model);
    this.#decoding = new DecodingMemory(this.#model);
  }

  forward(groups: readonly PromptGroup[], options: ForwardOptions = {}): Promise<TokenScores> {
    return this.#training.forward(groups, options);
  }

  async backward(dLogprob: Float32Array, dEntropy: Float32Array | null): Promise<void> {
    await withPauses(this.#training.backward({ dLogprob, dEntropy }), this.#model.pause);
  }

  async gradient(into: Float32Array = new Float32Array(this.parameterCount)): Promise<Float32Array> {
    const { gradient } = this.#model.parameters;
    if (gradient === null) into.fill(0);
    else into.set(await gradient.data());
    return into;
  }

  async clearGradient(): Promise<void> {
    this.#model.parameters.clearGradient();
  }

  async keepGradient(): Promise<() => Promise<void>> {
    const { device, parameters } = this.#model;
    const kept = parameters.gradient === null ? null : await this.gradient();
    return async () => {
      parameters.clearGradient();
      if (kept !== null) device.run(() => parameters.addGradient(device.floats(kept)));
    };
  }

  async adam(options: AdamOptions): Promise<number> {
    const { device, shape, parameters } = this.#model;
    const norm = device.run(() => adamStep(device, shape, parameters, options));
    this.#decoding.cache = null;
    return (await readAndDispose(norm))[0]!;
  }

  decoder(prompt: Int32Array, sequences: number): Promise<Decoder> {
    return Decoding.begin(this.#model, this.#decoding, prompt, sequences);
  }

  generate(prompts: readonly SeededPrompt[], sampling: Sampling, stream: Rng | null = null): Promise<Generated[]> {
    return generate(this.#model, prompts, sampling, stream);
  }

  async addToWeights(direction: Float32Array, scale: number): Promise<void> {
    this.#check('direction', direction);
    const { device, parameters } = this.#model;
    const { tf } = device;
    device.run(() =>
      parameters.put('weights', tf.add(parameters.get('weights'), tf.mul(device.floats(direction.slice()), scale))),
    );
    this.#decoding.cache = null;
  }

  async clone(): Promise<Engine> {
    const { device, shape, keptScores, pause } = this.#model;
    const copy = new TfjsEngine(device, shape, { keptScores, pause });
    await copy.loadWeights(await this.weights());
    return copy;
  }

  async weights(): Promise<Float32Array> {
    return copyOf(await this.#model.parameters.get('weights').data());
  }

  async loadWeights(weights: Float32Array): Promise<void> {
    this.#write('weights', weights);
    this.#decoding.cache = null;
  }

  async optimizerState(): Promise<OptimizerState> {
    const { parameters } = this.#model;
    const [m, v] = await Promise.all([parameters.get('m').data(), parameters.get('v').data()]);
    return { step: parameters.step, m: copyOf(m), v: copyOf(v) };
  }

  async loadOptimizerState({ step, m, v }: OptimizerState): Promise<void> {
    if (!Number.isSafeInteger(step) || step < 0) {
      throw new UserError(`An optimizer cannot have taken ${step} steps.`, 'Give a whole number from 0 up.');
    }
    this.#check('m', m);
    this.#check('v', v);
    this.#write('m', m);
    this.#write('v', v);
    this.#model.parameters.step = step;
  }

  /** Frees everything on the device. The engine must not be used afterwards. */
  async dispose(): Promise<void> {
    this.#training.dispose();
    this.#decoding.cache = null;
    this.#model.parameters.dispose();
    this.#model.device.free(this.#model.rotation);
  }

  #write(name: 'weights' | 'm' | 'v', values: Float32Array): void {
    this.#check(name, values);
    const { device, parameters } = this.#model;
    // A copy, because the library may read its argument later.
    device.run(() => parameters.put(name, device.floats(values.slice())));
  }

  #check(name: string, { length }: Float32Array): void {
    if (length === this.parameterCount) return;
    throw new UserError(
      `\`${name}\` has ${length} numbers, but the model has ${this.parameterCount} parameters.`,
      'Use the checkpoint of a model of the same shape.',
    );
  }
}

/** Copies, because some backends return their own memory. */
function copyOf(values: ArrayLike<number>): Float32Array {
  return Float32Array.from(values);
}

/** The one cache of an engine's decoders: keys and values of the decoder used last. */
class DecodingMemory {
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
class Decoding implements Decoder {
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
    const values = await readAndDispose(logprobs);
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
