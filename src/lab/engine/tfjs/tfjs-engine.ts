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
import { noPause, type Pause, withPauses } from '../model/steps.js';
import { adamStep } from './adam.js';
import { Decoding, DecodingMemory } from './decoding.js';
import type { Device } from './device.js';
import { generate } from './generation.js';
import { read, type Model } from './model.js';
import { Parameters } from './parameters.js';
import { rotationTables } from './rotation.js';
import { Training } from './training.js';

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
    return (await read(norm))[0]!;
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
