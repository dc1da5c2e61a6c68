import { Heap } from './heap.js';
import type { Kernels } from './kernels.js';

/** The kernels of a compiled `assembly/kernels.ts`, on a heap of their own. */
export async function wasmKernels(module: WebAssembly.Module): Promise<Kernels> {
  const heap = new Heap();
  const { exports } = await WebAssembly.instantiate(module, { env: { memory: heap.memory } });
  const kernels = exports as unknown as Omit<Kernels, 'backend' | 'heap'> & { heapBase(): number };
  heap.skipTo(kernels.heapBase());
  // A spread, because the exports object is frozen; the functions themselves are the module's.
  return { ...kernels, backend: 'wasm', heap };
}
