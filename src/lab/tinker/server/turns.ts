import { UserError } from '../../../base/user-error.js';

/** Work that has its turn, or waits for the next one. `resume`: gives it its turn. */
type Task = { readonly signal: AbortSignal | null; resume: () => void };

/** How long a task computes before others have their turn, ms. */
const TURN_MS = 20;

/**
 * Lets tasks compute in turns on one thread. One task at a time computes; at a pause, once its turn has been long enough, it goes to the
 * end of the queue of those that wait. What a task computes must not depend on others: they compute between its steps.
 */
export class Turns {
  readonly #turnMs: number;
  readonly #now: () => number;
  readonly #waiting: Task[] = [];
  readonly #last = new Map<string, Promise<void>>();
  #holder: Task | null = null;
  #began = 0;

  /** @param turnMs 0 gives others a turn at each pause. @param now Milliseconds, monotonic. */
  constructor(turnMs = TURN_MS, now = () => performance.now()) {
    this.#turnMs = turnMs;
    this.#now = now;
  }

  /** @param signal Ends the work at its next pause. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal | null = null): Promise<T> {
    const task = { signal, resume: () => {} };
    await this.#take(task);
    try {
      throwIfCancelled(task);
      return await work();
    } finally {
      this.#give();
    }
  }

  /** Called by the task that computes. @returns null when it may go on at once. */
  readonly pause = (): Promise<void> | null =>
    this.#holder === null || this.#now() - this.#began < this.#turnMs ? null : this.#rest(this.#holder);

  /** A pause for work that nobody waits for: others have their turn however short its own was. */
  readonly giveWay = (): Promise<void> | null => (this.#holder === null ? null : this.#rest(this.#holder));

  /** Work of the task that computes, of which there is one of its name at a time; other tasks have their turns while it waits. */
  async alone<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const { promise, resolve: end } = deferred();
    this.#last.set(name, promise);
    try {
      if (before !== undefined) await this.#without(before);
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
      this.#give();
      await this.#take(task);
    }
    this.#began = this.#now();
    throwIfCancelled(task);
  }

  async #without(event: Promise<void>): Promise<void> {
    const task = this.#holder!;
    this.#give();
    await event;
    await this.#take(task);
    throwIfCancelled(task);
  }

  async #take(task: Task): Promise<void> {
    if (this.#holder === null) this.#start(task);
    else {
      const { promise, resolve } = deferred();
      task.resume = resolve;
      this.#waiting.push(task);
      await promise;
    }
  }

  #give(): void {
    this.#holder = null;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#start(next);
    next.resume();
  }

  #start(task: Task): void {
    this.#holder = task;
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
