import { readFile } from 'node:fs/promises';
import { UserError } from '../../base/user-error.js';
import type { AdamOptions, Decoder, Engine, ModelShape, OptimizerState, PromptGroup, TokenScores } from './engine.js';
import { Heap } from './kernels/heap.js';
import type { Kernels } from './kernels/kernels.js';
import { offsetsOf } from './layout.js';
import { checkShape } from './model-shape.js';
import { DecodingMemory } from './model/decoding-memory.js';
import { Decoding } from './model/decoding.js';
import { buildModel, type Model } from './model/model.js';
import { type Stretch, stretches } from './model/padding.js';
import { Training } from './model/training.js';

/**
 * A model whose weights are all zero until `loadWeights` (see `initialWeights`), with its own memory.
 *
 * @param options.kernels A fresh set, used by no other engine; the WebAssembly ones by default.
 * @throws UserError when the shape is one the kernels cannot work with.
 */
export async function createEngine(shape: ModelShape, options: { kernels?: Kernels } = {}): Promise<Engine> {
  checkShape(shape);
  const kernels = options.kernels ?? (await wasmKernels(await compiledKernels()));
  return new LlamaEngine(kernels, shape);
}

let compiled: Promise<WebAssembly.Module> | null = null;

/** Compiled once per process. The file lies beside this one, and beside the bundle that contains this one. */
function compiledKernels(): Promise<WebAssembly.Module> {
  compiled ??= readFile(new URL('./kernels.wasm', import.meta.url)).then(
    (bytes) => WebAssembly.compile(bytes),
    (cause: unknown) => {
      throw new UserError('The kernels have not been built: kernels.wasm is missing.', 'Run `npm run build`.', {
        cause,
      });
    },
  );
  return compiled;
}

/** The kernels of a compiled `assembly/kernels.ts`, on a heap of their own. */
export async function wasmKernels(module: WebAssembly.Module): Promise<Kernels> {
  const heap = new Heap();
  const { exports } = await WebAssembly.instantiate(module, { env: { memory: heap.memory } });
  const kernels = exports as unknown as Omit<Kernels, 'backend' | 'heap'> & { heapBase(): number };
  heap.skipTo(kernels.heapBase());
  // A spread, because the exports object is frozen; the functions themselves are the module's.
  return { ...kernels, backend: 'wasm', heap };
}

/** The LLaMA model on a set of kernels: everything on one thread, so each method is done when it returns. */
class LlamaEngine implements Engine {
  readonly backend: string;
  readonly shape: ModelShape;
  readonly parameterCount: number;
  readonly #model: Model;
  readonly #stretches: readonly Stretch[];
  readonly #training: Training;
  readonly #decodingMemory: DecodingMemory;
  #step = 0;

  constructor(kernels: Kernels, shape: ModelShape) {
    this.backend = kernels.backend;
    this.shape = shape;
    this.#model = buildModel(kernels, shape);
    this.#stretches = stretches(shape);
    this.parameterCount = offsetsOf(shape).size;
    this.#training = new Training(this.#model);
    this.#decodingMemory = new DecodingMemory(this.#model);
  }

  async forward(groups: readonly PromptGroup[]): Promise<TokenScores> {
    return this.#training.forward(groups);
  }

  async backward(dLogprob: Float32Array, dEntropy: Float32Array | null): Promise<void> {
    this.#training.backward(dLogprob, dEntropy);
  }

  async gradient(): Promise<Float32Array> {
    return this.#read(this.#model.parameters.gradient);
  }

  async clearGradient(): Promise<void> {
    const { kernels, parameters } = this.#model;
    kernels.zero(parameters.count, parameters.gradient);
  }

  async adam({ learningRate, beta1, beta2, epsilon }: AdamOptions): Promise<number> {
    const { kernels, parameters } = this.#model;
    const { count, weights, gradient, m, v } = parameters;
    const norm = Math.sqrt(kernels.sumSquares(count, gradient));
    this.#step++;
    const correction1 = 1 - beta1 ** this.#step;
    const correction2 = Math.sqrt(1 - beta2 ** this.#step);
    const step = (learningRate * correction2) / correction1;
    kernels.adam(count, weights, gradient, m, v, step, 1 - beta1, 1 - beta2, epsilon * correction2);
    parameters.changed();
    return norm;
  }

  async decoder(prompt: Int32Array, sequences: number): Promise<Decoder> {
    return new Decoding(this.#model, this.#decodingMemory, prompt, sequences);
  }

  async weights(): Promise<Float32Array> {
    return this.#read(this.#model.parameters.weights);
  }

  async loadWeights(weights: Float32Array): Promise<void> {
    this.#write('weights', weights, this.#model.parameters.weights);
    this.#model.parameters.changed();
  }

  async optimizerState(): Promise<OptimizerState> {
    const { m, v } = this.#model.parameters;
    return { step: this.#step, m: this.#read(m), v: this.#read(v) };
  }

  async loadOptimizerState({ step, m, v }: OptimizerState): Promise<void> {
    if (!Number.isSafeInteger(step) || step < 0) {
      throw new UserError(`An optimizer cannot have taken ${step} steps.`, 'Give a whole number from 0 up.');
    }
    this.#write('m', m, this.#model.parameters.m);
    this.#write('v', v, this.#model.parameters.v);
    this.#step = step;
  }

  #read(address: number): Float32Array {
    const values = new Float32Array(this.parameterCount);
    const memory = this.#model.kernels.heap.f32.subarray(address / 4);
    for (const { from, to, count } of this.#stretches) values.set(memory.subarray(to, to + count), from);
    return values;
  }

  #write(name: string, values: Float32Array, address: number): void {
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
