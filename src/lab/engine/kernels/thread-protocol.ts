/** The layout of the memory that the threads of an engine share with the thread that leads them. */

/** Shared memory that the leader creates and passes to a thread when it starts. */
export type ThreadStart = {
  /** Number of the thread, from 0. */
  readonly index: number;
  /** Number of calls before the thread was started. */
  readonly calls: number;
  /** Words to wait on: `signal`, and two for each thread. */
  readonly control: Int32Array;
  /** `commandLength` numbers for each thread. */
  readonly commands: Float64Array;
  /** Error message of each thread in UTF-8, `mostWords` bytes for each. */
  readonly words: Uint8Array;
};

/** A heap announced to the threads: sent as a message, and received at the command `attach`. */
export type SharedHeap = {
  readonly id: number;
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** Address of the first thread's scratch for packing, and bytes of each thread's: `packAt` of `assembly/gemm.ts`. */
  readonly packing: { readonly at: number; readonly bytes: number };
};

/** Counts the calls; threads wait for it to change. */
export const signal = 0;
/** The number of the last call that a thread has finished. */
export const doneAt = (index: number): number => 1 + 2 * index;
/** Length of the error message of a thread that has failed; 0 for none. */
export const failedAt = (index: number): number => 2 + 2 * index;

/** Numbers in a command: the kernel or `attach`, the heap's id, and arguments. */
export const commandLength = 16;
/** Command to take in new heaps, in the place of a kernel's number in `threadedNames`. */
export const attach = -1;
export const forget = -2;
export const nothing = -3;

export const mostWords = 1024;
export const mostThreads = 64;

/** Kernels that may be computed in pieces, one on each thread. */
export const threadedNames = [
  'gemm',
  'addProduct',
  'packRows',
  'packColumns',
  'rmsNorm',
  'rope',
  'attention',
  'attentionBackward',
  'swiglu',
  'swigluBackward',
  'logSoftmax',
  'logSoftmaxBackward',
  'adam',
] as const;
export type ThreadedName = (typeof threadedNames)[number];

/** Reads of a word before a thread sleeps: waking it takes longer than most kernels. */
const LOOKS = 10_000;

/** Waits until the word is no longer `value`. @returns false after `timeoutMs` without a change. */
export function waitForChange(words: Int32Array, at: number, value: number, timeoutMs = Infinity): boolean {
  for (let i = 0; i < LOOKS; i++) if (Atomics.load(words, at) !== value) return true;
  return Atomics.wait(words, at, value, timeoutMs) !== 'timed-out';
}
