import { readFile } from 'node:fs/promises';
import { UserError } from '../../base/user-error.js';
import type { Engine, ModelShape } from './engine.js';
import { Heap } from './kernels/heap.js';
import type { Kernels } from './kernels/kernels.js';
import { ThreadPool } from './kernels/thread-pool.js';
import { type Compiled, threadedKernels } from './kernels/threaded-kernels.js';
import { LlamaEngine } from './llama-engine.js';
import { checkShape } from './model-shape.js';
import type { Pause } from './model/steps.js';

/** `threads`: default 1. */
type ThreadOptions = { readonly threads?: number };

/**
 * A model with its own memory, whose weights are all zero until `loadWeights` (see `initialWeights`).
 *
 * @param options.kernels A fresh set, used by no other engine; the WebAssembly ones by default.
 * @param options.keptScores Scores of a forward pass that are kept for the backward pass; others are computed again.
 * Tests set it.
 * @param options.pause Called between the steps of long computations.
 * @throws UserError when the kernels cannot work with the shape.
 */
export async function createEngine(
  shape: ModelShape,
  options: ThreadOptions & { kernels?: Kernels; keptScores?: number; pause?: Pause | undefined } = {},
): Promise<Engine> {
  checkShape(shape);
  return new LlamaEngine(options.kernels ?? (await compiledKernels(options)), shape, options);
}

/** @param options.leastWork Of a call that is computed on several threads, in multiplications; tests set it to 0. */
export async function compiledKernels(options: ThreadOptions & { leastWork?: number } = {}): Promise<Kernels> {
  const { threads = 1, leastWork } = options;
  if (threads === 1) return wasmKernels(await compileOnce('kernels.wasm'));
  const module = await compileOnce('kernels-shared.wasm');
  const own = await wasmKernels(module, { shared: true });
  const kernels = threadedKernels(own, { pool, module, threads, leastWork });
  return { ...kernels, fresh: () => compiledKernels(options) };
}

const pool = new ThreadPool(new URL('./kernel-thread.js', import.meta.url));

const modules = new Map<string, Promise<WebAssembly.Module>>();

/** Compiled once per process. The file lies beside this one, and beside the bundle that contains this one. */
function compileOnce(file: string): Promise<WebAssembly.Module> {
  const known = modules.get(file) ?? compile(file);
  modules.set(file, known);
  return known;
}

async function compile(file: string): Promise<WebAssembly.Module> {
  const bytes = await readFile(new URL(`./${file}`, import.meta.url)).catch((cause: unknown) => {
    throw new UserError(`The kernels have not been built: ${file} is missing.`, 'Run `npm run build`.', { cause });
  });
  return WebAssembly.compile(bytes);
}

/** Exports of an instance that are set up before it computes. */
type Instance = { heapBase(): number; packAt(address: number): void };

/** The kernels of a compiled `assembly/kernels.ts`, on a heap of their own. @param options.shared As the module was compiled. */
export async function wasmKernels(module: WebAssembly.Module, options: { shared?: boolean } = {}): Promise<Compiled> {
  const { shared = false } = options;
  const heap = new Heap({ shared });
  const { exports } = await WebAssembly.instantiate(module, { env: { memory: heap.memory } });
  const kernels = exports as unknown as Omit<Compiled, 'backend' | 'heap' | 'fresh'> & Instance;
  heap.skipTo(kernels.heapBase());
  kernels.packAt(heap.allocate(kernels.packingBytes() / 4));
  // A spread, because the exports object is frozen; the functions themselves are the module's.
  return { ...kernels, backend: 'wasm', heap, fresh: () => wasmKernels(module, options) };
}
