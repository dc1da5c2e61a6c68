import { Worker } from 'node:worker_threads';
import {
  attach,
  commandLength,
  doneAt,
  failedAt,
  forget,
  mostThreads,
  mostWords,
  nothing,
  signal,
  type ThreadedName,
  threadedNames,
  type SharedHeap,
  type ThreadStart,
  waitForChange,
} from './thread-protocol.js';

/** Milliseconds between two checks of a thread. A thread that has not answered by the second one is lost. */
const PATIENCE_MS = 30_000;

/** A piece of a kernel, with the kernel's own arguments. */
export type Piece = readonly number[];

/**
 * The threads of this process that compute pieces of kernels for the caller. All engines share them, since each call
 * is over before the next begins. They are started when first needed, and do not keep the process alive.
 */
export class ThreadPool {
  readonly #file: URL;
  readonly #control = new Int32Array(new SharedArrayBuffer(4 * (1 + 2 * mostThreads)));
  readonly #commands = new Float64Array(new SharedArrayBuffer(8 * commandLength * mostThreads));
  readonly #words = new Uint8Array(new SharedArrayBuffer(mostWords * mostThreads));
  readonly #threads: { readonly worker: Worker; readonly known: Set<number> }[] = [];
  readonly #forgotten: number[] = [];
  readonly #registry = new FinalizationRegistry<number>((id) => this.#forgotten.push(id));
  #calls = 0;
  #heaps = 0;
  /** Why no thread can be used any more. */
  #broken: string | null = null;

  /** @param file The bundled `kernel-thread.ts`. */
  constructor(file: URL) {
    this.#file = file;
  }

  /** Returns an id for a heap. When `holder` is no longer reachable, the threads release the heap's memory. */
  register(holder: object): number {
    const id = this.#heaps++;
    this.#registry.register(holder, id);
    return id;
  }

  /**
   * Computes the first piece here and the others on threads, and returns when all are done.
   *
   * @throws Error when a thread has failed; the pool is not used again.
   */
  run(name: ThreadedName, heap: SharedHeap, pieces: readonly Piece[], here: (...args: number[]) => unknown): void {
    if (this.#broken !== null) throw new Error(this.#broken);
    this.#ready(heap, pieces.length - 1);
    const what = threadedNames.indexOf(name);
    for (let index = 0; index < this.#threads.length; index++) {
      const piece = pieces[index + 1];
      if (piece === undefined) this.#command(index, [nothing]);
      else this.#command(index, [what, heap.id, ...piece]);
    }
    this.#begin();
    try {
      here(...pieces[0]!);
    } finally {
      this.#end();
    }
  }

  #ready(heap: SharedHeap, count: number): void {
    while (this.#forgotten.length > 0) this.#all([forget, this.#forgotten.pop()!]);
    while (this.#threads.length < count) this.#start();
    const strangers = this.#threads.slice(0, count).filter(({ known }) => !known.has(heap.id));
    if (strangers.length === 0) return;
    for (const { worker, known } of strangers) {
      worker.postMessage(heap);
      known.add(heap.id);
    }
    this.#all([attach]);
  }

  #start(): void {
    const index = this.#threads.length;
    // The thread waits for the next call.
    Atomics.store(this.#control, doneAt(index), this.#calls);
    const memory = { control: this.#control, commands: this.#commands, words: this.#words };
    const workerData: ThreadStart = { index, calls: this.#calls, ...memory };
    const worker = new Worker(this.#file, { workerData, execArgv: [] });
    worker.unref();
    worker.on('error', (error) => (this.#broken ??= `A thread of the engine has ended: ${error.message}`));
    worker.on('exit', () => (this.#broken ??= 'A thread of the engine has ended.'));
    this.#threads.push({ worker, known: new Set() });
  }

  #all(command: readonly number[]): void {
    for (let index = 0; index < this.#threads.length; index++) this.#command(index, command);
    this.#begin();
    this.#end();
  }

  #command(index: number, command: readonly number[]): void {
    this.#commands.set(command, index * commandLength);
  }

  #begin(): void {
    this.#calls = (this.#calls + 1) | 0;
    Atomics.store(this.#control, signal, this.#calls);
    Atomics.notify(this.#control, signal);
  }

  #end(): void {
    for (let index = 0; index < this.#threads.length; index++) this.#await(index);
    for (let index = 0; index < this.#threads.length; index++) this.#check(index);
  }

  #await(index: number): void {
    const at = doneAt(index);
    for (let waits = 0; ;) {
      const done = Atomics.load(this.#control, at);
      if (done === this.#calls) return;
      if (waitForChange(this.#control, at, done, PATIENCE_MS)) continue;
      // A process that was stopped and continued has timed out without waiting: only the second timeout counts.
      if (++waits === 2) throw this.#break(`A thread of the engine has not answered for ${PATIENCE_MS / 500} s.`);
    }
  }

  #check(index: number): void {
    const length = Atomics.load(this.#control, failedAt(index));
    if (length === 0) return;
    const bytes = this.#words.slice(index * mostWords, index * mostWords + length);
    throw this.#break(`A thread of the engine has failed: ${new TextDecoder().decode(bytes)}`);
  }

  #break(why: string): Error {
    this.#broken = why;
    for (const { worker } of this.#threads) void worker.terminate();
    return new Error(why);
  }
}
