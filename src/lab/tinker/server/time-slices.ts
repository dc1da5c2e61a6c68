import { UserError } from '../../../base/user-error.js';

/** A task that computes, or waits for its next time slice. `resume` continues it. */
type Task = { readonly signal: AbortSignal | null; resume: () => void };

/** Length of a time slice, ms. */
const SLICE_MS = 20;

/**
 * Time slices for tasks on one thread. One task computes at a time; at a pause after the end of its slice, it goes to
 * the end of the queue. The result of a task must not depend on others, which compute between its steps.
 */
export class TimeSlices {
  readonly #sliceMs: number;
  readonly #now: () => number;
  readonly #waiting: Task[] = [];
  readonly #last = new Map<string, Promise<void>>();
  #running: Task | null = null;
  #began = 0;

  /** @param sliceMs 0 switches tasks at each pause. @param now Milliseconds, monotonic. */
  constructor(sliceMs = SLICE_MS, now = () => performance.now()) {
    this.#sliceMs = sliceMs;
    this.#now = now;
  }

  /** @param signal Ends the work at its next pause. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal | null = null): Promise<T> {
    const task = { signal, resume: () => {} };
    await this.#acquire(task);
    try {
      throwIfCancelled(task);
      return await work();
    } finally {
      this.#release();
    }
  }

  /** A pause of the running task. @returns null when its slice has not ended. */
  readonly pause = (): Promise<void> | null =>
    this.#running === null || this.#now() - this.#began < this.#sliceMs ? null : this.#rest(this.#running);

  /** A pause that always ends the slice, for work that nobody waits for. */
  readonly endSlice = (): Promise<void> | null => (this.#running === null ? null : this.#rest(this.#running));

  /** Runs work of which only one of each name runs at a time; other tasks have their slices while it waits. */
  async serially<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const { promise, resolve: end } = deferred();
    this.#last.set(name, promise);
    try {
      if (before !== undefined) await this.#whileWaitingFor(before);
      return await work();
    } finally {
      if (this.#last.get(name) === promise) this.#last.delete(name);
      end();
    }
  }

  async #rest(task: Task): Promise<void> {
    // Lets the event loop read calls that have arrived meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#waiting.length > 0) {
      this.#release();
      await this.#acquire(task);
    }
    this.#began = this.#now();
    throwIfCancelled(task);
  }

  async #whileWaitingFor(event: Promise<void>): Promise<void> {
    const task = this.#running!;
    this.#release();
    await event;
    await this.#acquire(task);
    throwIfCancelled(task);
  }

  async #acquire(task: Task): Promise<void> {
    if (this.#running === null) this.#start(task);
    else {
      const { promise, resolve } = deferred();
      task.resume = resolve;
      this.#waiting.push(task);
      await promise;
    }
  }

  #release(): void {
    this.#running = null;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#start(next);
    next.resume();
  }

  #start(task: Task): void {
    this.#running = task;
    this.#began = this.#now();
  }
}

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

function throwIfCancelled({ signal }: Task): void {
  if (signal?.aborted === true) throw new UserError('The client has cancelled this request.', 'Send it again.');
}
