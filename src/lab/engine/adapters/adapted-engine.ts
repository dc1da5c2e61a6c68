import { UserError } from '../../../base/user-error.js';
import type { Rng } from '../../rng.js';
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
} from '../engine.js';
import type { Kernels } from '../kernels/kernels.js';
import type { Tensor } from '../layout.js';
import { Optimizer } from '../model/optimizer.js';
import { paddedShape } from '../model/padding.js';
import { noPause, type Pause, withPauses } from '../model/steps.js';
import type { AdapterConfig } from './config.js';
import { adapterLayout } from './layout.js';
import { Merging, strengthsOf, type Adaptation, type PlainModel, type Strengths } from './merging.js';

/**
 * A frozen model with adapters. Weights, gradient, optimizer and parameter groups of this engine are those of the
 * adapters' parameters alone; `tensors` names them. The model itself never changes.
 *
 * Another engine computes it: its weights are those of the model with the adapters merged into them.
 */
export class AdaptedEngine implements Engine {
  readonly backend: string;
  /** Shape of the model without adapters. */
  readonly shape: ModelShape;
  readonly parameterCount: number;
  readonly adapters: AdapterConfig;
  readonly tensors: readonly Tensor[];
  readonly #engine: Engine;
  readonly #kernels: Kernels;
  /** Address of a scratch vector for directions; null until one is needed. */
  #scratch: number | null = null;
  readonly #merging: Merging;
  readonly #optimizer: Optimizer;
  /** Addresses of the optimizer's moments. */
  readonly #m: number;
  readonly #v: number;
  #scales: readonly number[];
  #isTrained: readonly boolean[];
  /** Whether the engine holds a gradient that has not been added to the adapters' gradient yet. */
  #isPending = false;
  readonly #pause: Pause;

  private constructor(engine: Engine, kernels: Kernels, adaptation: Adaptation, pause: Pause) {
    const { shape, adapters } = adaptation;
    const { tensors, size } = adapterLayout(shape, adapters);
    this.backend = engine.backend;
    this.shape = shape;
    this.parameterCount = size;
    this.adapters = adapters;
    this.tensors = tensors;
    this.#engine = engine;
    this.#pause = pause;
    this.#kernels = kernels;
    this.#merging = new Merging(kernels, adaptation);
    const { count, parameters: weights, gradient } = this.#merging;
    const [m, v] = [kernels.heap.allocate(count), kernels.heap.allocate(count)];
    [this.#m, this.#v] = [m, v];
    // Rows include their padding, so that the vector loops run over whole rows.
    const rows = adapterLayout(paddedShape(shape), adapters).tensors;
    const parameters = { count, weights, gradient, m, v, changed: () => {} };
    this.#optimizer = new Optimizer({ kernels, tensors: rows, parameters });
    this.#scales = adapters.map(() => 1);
    this.#isTrained = adapters.map(() => true);
  }

  /**
   * All parameters are zero until `loadWeights` (see `initialAdapters`): the adapted model equals the frozen one.
   *
   * @param engine Belongs to this engine from now on. Its shape is `computedShape`; its weights are replaced.
   * @param kernels A fresh set, used by no other engine.
   * @param pause Called between the steps of long computations.
   */
  static async on(engine: Engine, kernels: Kernels, adaptation: Adaptation, pause = noPause): Promise<AdaptedEngine> {
    const adapted = new AdaptedEngine(engine, kernels, adaptation, pause);
    await adapted.#merge();
    return adapted;
  }

  /** Scale s of each adapter, by its name. */
  get scales(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.adapters.map(({ name }, index) => [name, this.#scales[index]!]));
  }

  /** Sets the scale s of the adapters named. The weights change with it, so what `forward` kept is lost. */
  async setScales(scales: Readonly<Record<string, number>>): Promise<void> {
    for (const name of Object.keys(scales)) this.#indexOf(name);
    const next = this.adapters.map(({ name }, index) => scales[name] ?? this.#scales[index]!);
    if (next.every((scale, index) => scale === this.#scales[index])) return;
    await this.#takeGradient();
    this.#scales = next;
    await this.#merge();
  }

  /**
   * Restricts `backward` to the gradient of these adapters; null trains all. The gradient of the others stays as it
   * is, and derivatives still pass through them to lower layers.
   */
  async setTrained(names: readonly string[] | null): Promise<void> {
    const chosen = names?.map((name) => this.#indexOf(name));
    await this.#takeGradient();
    this.#isTrained = this.adapters.map((_, index) => chosen?.includes(index) ?? true);
  }

  /** A copy of the frozen weights. */
  frozenWeights(): Float32Array {
    return this.#merging.frozen();
  }

  /** The plain model with the adapters merged at their present scales. Adapters with neurons make it wider. */
  merged(): PlainModel {
    return this.#merging.plain(this.#strengths());
  }

  forward(groups: readonly PromptGroup[], options?: ForwardOptions): Promise<TokenScores> {
    return this.#engine.forward(groups, options);
  }

  async backward(dLogprob: Floats, dEntropy: Floats | null): Promise<void> {
    await this.#engine.backward(dLogprob, dEntropy);
    this.#isPending = true;
  }

  async gradient(into?: Float32Array): Promise<Float32Array> {
    await this.#takeGradient();
    return this.#merging.read(this.#merging.gradient, into);
  }

  async clearGradient(): Promise<void> {
    await this.#engine.clearGradient();
    this.#isPending = false;
    this.#kernels.zero(this.#merging.count, this.#merging.gradient);
  }

  async keepGradient(): Promise<() => Promise<void>> {
    const restore = await this.#engine.keepGradient();
    const own = this.#merging.read(this.#merging.gradient);
    const isPending = this.#isPending;
    return async () => {
      await restore();
      this.#merging.write('gradient', own, this.#merging.gradient);
      this.#isPending = isPending;
    };
  }

  async adam(options: AdamOptions): Promise<number> {
    await this.#takeGradient();
    const norm = this.#optimizer.take(options);
    await this.#merge();
    return norm;
  }

  async addToWeights(direction: Floats, scale: number): Promise<void> {
    const { count, parameters } = this.#merging;
    this.#scratch ??= this.#kernels.heap.allocate(count);
    await this.#takeGradient();
    this.#merging.write('direction', direction, this.#scratch);
    this.#kernels.addScaled(count, scale, this.#scratch, parameters);
    await this.#merge();
  }

  generate(prompts: readonly SeededPrompt[], sampling: Sampling, stream?: Rng): Promise<Generated[]> {
    return this.#engine.generate(prompts, sampling, stream);
  }

  decoder(prompt: Int32Array, sequences: number): Promise<Decoder> {
    return this.#engine.decoder(prompt, sequences);
  }

  async weights(): Promise<Float32Array> {
    return this.#merging.read(this.#merging.parameters);
  }

  async loadWeights(weights: Floats): Promise<void> {
    await this.#takeGradient();
    this.#merging.write('weights', weights, this.#merging.parameters);
    await this.#merge();
  }

  async optimizerState(): Promise<OptimizerState> {
    return { step: this.#optimizer.step, m: this.#merging.read(this.#m), v: this.#merging.read(this.#v) };
  }

  async loadOptimizerState({ step, m, v }: OptimizerState): Promise<void> {
    if (!Number.isSafeInteger(step) || step < 0) {
      throw new UserError(`An optimizer cannot have taken ${step} steps.`, 'Give a whole number from 0 up.');
    }
    this.#merging.write('m', m, this.#m);
    this.#merging.write('v', v, this.#v);
    this.#optimizer.step = step;
  }

  /** A copy with the same adapters, scales and weights; all of its adapters are trained. */
  async clone(): Promise<AdaptedEngine> {
    const [engine, kernels] = [await this.#engine.clone(), await this.#kernels.fresh()];
    const adaptation = { ...this, weights: this.frozenWeights() };
    const copy = await AdaptedEngine.on(engine, kernels, adaptation, this.#pause);
    await copy.setScales(this.scales);
    await copy.loadWeights(await this.weights());
    return copy;
  }

  dispose(): Promise<void> {
    return this.#engine.dispose();
  }

  #strengths(): Strengths {
    return strengthsOf(this.adapters, this.#scales);
  }

  async #merge(): Promise<void> {
    await this.#engine.loadWeights(await withPauses(this.#merging.merged(this.#strengths()), this.#pause));
  }

  /** Adds the engine's gradient to that of the adapters. Must run before weights or scales change. */
  async #takeGradient(): Promise<void> {
    if (!this.#isPending) return;
    await this.#engine.gradient(this.#merging.dense);
    await this.#engine.clearGradient();
    this.#isPending = false;
    const isTrained = (adapter: number) => this.#isTrained[adapter]!;
    await withPauses(this.#merging.addGradient(this.#strengths(), isTrained), this.#pause);
  }

  #indexOf(name: string): number {
    const index = this.adapters.findIndex((adapter) => adapter.name === name);
    if (index >= 0) return index;
    const known = this.adapters.map((adapter) => adapter.name).join(', ');
    throw new UserError(`The model has no adapter "${name}".`, `Use one of: ${known}.`);
  }
}
