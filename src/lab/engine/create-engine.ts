import { readFile } from 'node:fs/promises';
import { UserError } from '../../base/user-error.js';
import type { Engine, ModelShape } from './engine.js';
import { Heap } from './kernels/heap.js';
import type { Kernels } from './kernels/kernels.js';
import { LlamaEngine } from './llama-engine.js';
import { checkShape } from './model-shape.js';

/**
 * A model whose weights are all zero until `loadWeights` (see `initialWeights`), with its own memory.
 *
 * @param options.kernels A fresh set, used by no other engine; the WebAssembly ones by default.
 * @throws UserError when the shape is one the kernels cannot work with.
 */
export async function createEngine(shape: ModelShape, options: { kernels?: Kernels } = {}): Promise<Engine> {
  checkShape(shape);
  const kernels = options.kernels ?? (await freshKernels());
  return new LlamaEngine(kernels, shape);
}

/** A set of our kernels with a heap of its own. */
export async function freshKernels(): Promise<Kernels> {
  return wasmKernels(await compiledKernels());
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
  const kernels = exports as unknown as Omit<Kernels, 'backend' | 'heap' | 'fresh'> & { heapBase(): number };
  heap.skipTo(kernels.heapBase());
  // A spread, because the exports object is frozen; the functions themselves are the module's.
  return { ...kernels, backend: 'wasm', heap, fresh: () => wasmKernels(module) };
}
