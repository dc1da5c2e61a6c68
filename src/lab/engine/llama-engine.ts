import { UserError } from '../../base/user-error.js';
import type { Rng } from '../rng.js';
import type {
  AdamOptions,
  Decoder,
  Engine,
  Floats,
  ForwardOptions,
  Generated,
  ModelShape,
  OptimizerState,
  PromptGroup,
  Sampling,
  SeededPrompt,
  TokenScores,
} from './engine.js';
import type { Kernels } from './kernels/kernels.js';
import { layout, offsetsOf } from './layout.js';
import { DecodingMemory } from './model/decoding-memory.js';
import { Decoding } from './model/decoding.js';
import { Generation } from './model/generation.js';
import { Inference } from './model/inference.js';
import { buildModel, type Model } from './model/model.js';
import { Optimizer } from './model/optimizer.js';
import { type Stretch, stretches } from './model/padding.js';
import { noPause, type Pause, withPauses } from './model/steps.js';
import { mostScores } from './model/training-buffers.js';
import { Training } from './model/training.js';

/** The LLaMA model on a set of kernels: everything on one thread, so each method is done when it returns. */
export class LlamaEngine implements Engine {
  readonly backend: string;
  readonly shape: ModelShape;
  readonly parameterCount: number;
  readonly #model: Model;
  readonly #stretches: readonly Stretch[];
  readonly #training: Training;
  readonly #inference: Inference;
  readonly #decodingMemory: DecodingMemory;
  readonly #generation: Generation;
  readonly #optimizer: Optimizer;
  readonly #pause: Pause;
  /** Whether there may be a gradient other than 0. */
  #hasGradient = false;

  /**
   * @param kernels A fresh set, used by no other engine.
   * @param shape One that `checkShape` has passed.
   * @param options.keptScores Scores of a forward pass that are kept for the backward pass; others are computed again.
   * @param options.pause Called between the steps of long computations.
   */
  constructor(
    kernels: Kernels,
    shape: ModelShape,
    {
      keptScores = mostScores,
      pause = noPause,
    }: { readonly keptScores?: number | undefined; readonly pause?: Pause | undefined } = {},
  ) {
    this.#pause = pause;
    this.backend = kernels.backend;
    this.shape = shape;
    this.#model = buildModel(kernels, shape);
    this.#stretches = stretches(shape);
    this.parameterCount = offsetsOf(shape).size;
    this.#inference = new Inference(this.#model, pause);
    this.#decodingMemory = new DecodingMemory(this.#model);
    this.#training = new Training(this.#model, this.#decodingMemory, keptScores);
    this.#generation = new Generation(this.#inference, this.#decodingMemory);
    this.#optimizer = new Optimizer({ ...this.#model, tensors: layout(this.#model.shape) });
  }

  async forward(groups: readonly PromptGroup[], options: ForwardOptions = {}): Promise<TokenScores> {
    return withPauses(this.#training.forward(groups, options), this.#pause);
  }

  async backward(dLogprob: Floats, dEntropy: Floats | null): Promise<void> {
    this.#hasGradient = true;
    await withPauses(this.#training.backward(dLogprob, dEntropy), this.#pause);
  }

  async gradient(into?: Float32Array): Promise<Float32Array> {
    return this.#read(this.#model.parameters.gradient, into);
  }

  async clearGradient(): Promise<void> {
    const { kernels, parameters } = this.#model;
    kernels.zero(parameters.count, parameters.gradient);
    this.#hasGradient = false;
  }

  async keepGradient(): Promise<() => Promise<void>> {
    if (!this.#hasGradient) return () => this.clearGradient();
    const kept = await this.gradient();
    return async () => this.#write('gradient', kept, this.#model.parameters.gradient);
  }

  async adam(options: AdamOptions): Promise<number> {
    const norm = this.#optimizer.take(options);
    this.#hasGradient = false;
    return norm;
  }

  async addToWeights(direction: Floats, scale: number): Promise<void> {
    const { kernels, parameters } = this.#model;
    this.#write('direction', direction, parameters.scratch());
    kernels.addScaled(parameters.count, scale, parameters.scratch(), parameters.weights);
    parameters.changed();
  }

  async generate(prompts: readonly SeededPrompt[], sampling: Sampling, stream?: Rng): Promise<Generated[]> {
    return withPauses(this.#generation.generate(prompts, sampling, stream), this.#pause);
  }

  async decoder(prompt: Int32Array, sequences: number): Promise<Decoder> {
    const decoding = new Decoding(this.#inference, this.#decodingMemory, prompt, sequences);
    await withPauses(decoding.begin(), this.#pause);
    return decoding;
  }

  async weights(): Promise<Float32Array> {
    return this.#read(this.#model.parameters.weights);
  }

  async loadWeights(weights: Floats): Promise<void> {
    this.#write('weights', weights, this.#model.parameters.weights);
    this.#model.parameters.changed();
  }

  async optimizerState(): Promise<OptimizerState> {
    const { m, v } = this.#model.parameters;
    return { step: this.#optimizer.step, m: this.#read(m), v: this.#read(v) };
  }

  async loadOptimizerState({ step, m, v }: OptimizerState): Promise<void> {
    if (!Number.isSafeInteger(step) || step < 0) {
      throw new UserError(`An optimizer cannot have taken ${step} steps.`, 'Give a whole number from 0 up.');
    }
    this.#write('m', m, this.#model.parameters.m);
    this.#write('v', v, this.#model.parameters.v);
    this.#optimizer.step = step;
  }

  async clone(): Promise<Engine> {
    const engine = new LlamaEngine(await this.#model.kernels.fresh(), this.shape, { pause: this.#pause });
    await engine.loadWeights(await this.weights());
    return engine;
  }

  /** The heap is garbage-collected with the engine. */
  async dispose(): Promise<void> {}

  #read(address: number, into?: Float32Array): Float32Array {
    const { heap } = this.#model.kernels;
    const values = into ?? heap.floats(this.parameterCount);
    const memory = heap.f32.subarray(address / 4);
    for (const { from, to, count } of this.#stretches) values.set(memory.subarray(to, to + count), from);
    return values;
  }

  #write(name: string, values: Floats, address: number): void {
    if (values.length !== this.parameterCount) {
      throw new UserError(
        `\`${name}\` has ${values.length} numbers, but the model has ${this.parameterCount} parameters.`,
        'Use the checkpoint of a model of the same shape.',
      );
    }
    const memory = this.#model.kernels.heap.f32.subarray(address / 4);
    for (const { from, to, count } of this.#stretches) memory.set(values.subarray(from, from + count), to);
  }
}
