/** Keeps the results of accepted requests. Each has an id, and a client that asks early waits a while. */
import { Refusal } from './refusal.js';
import { failedResult } from './results.js';

/** The result of a request. `size`: roughly the bytes that it holds in memory. */
export type Result =
  | {
      readonly kind: 'done';
      readonly size: number;
      readonly json: () => unknown;
      readonly proto: (() => Uint8Array) | null;
    }
  | { readonly kind: 'failed'; readonly error: string; readonly category: 'user' | 'server' };

type Future = {
  readonly session: string;
  result: Result | null;
  wasRead: boolean;
  readonly waiters: Set<() => void>;
};

/** Results that were read are kept up to these limits, because an answer may be lost on its way. */
const MOST_KEPT_BYTES = 256 * 2 ** 20;
const MOST_KEPT = 100_000;

export class Futures {
  readonly #prefix: string;
  readonly #bug: (error: unknown) => void;
  readonly #all = new Map<string, Future>();
  #count = 0;
  #bytes = 0;

  /** @param prefix Names this start of the service in all ids. @param bug Takes errors that no request is to blame for. */
  constructor(prefix: string, bug: (error: unknown) => void) {
    this.#prefix = prefix;
    this.#bug = bug;
  }

  create(session: string): string {
    const id = `${this.#prefix}-${++this.#count}`;
    this.#all.set(id, { session, result: null, wasRead: false, waiters: new Set() });
    return id;
  }

  settle(id: string, result: Result): void {
    const future = this.#all.get(id);
    if (future === undefined || future.result !== null) return;
    future.result = result;
    this.#bytes += sizeOf(result);
    for (const wake of [...future.waiters]) wake();
    this.#forgetRead();
  }

  /** Settles a request that could not be carried out; its client reads why. */
  fail(id: string, error: unknown): void {
    this.settle(id, failedResult(error, this.#bug));
  }

  /**
   * Waits for the result; null when it has not arrived after `ms`.
   *
   * @throws Refusal when the id is unknown or its result has been forgotten.
   */
  async wait(id: string, ms: number, closed: AbortSignal): Promise<Result | null> {
    const future = this.#all.get(id);
    if (future === undefined) throw new Refusal(410, `The result of request ${id} is gone, or never was.`);
    if (future.result === null) await woken(future, ms, closed);
    if (future.result !== null) future.wasRead = true;
    return future.result;
  }

  forgetSession(session: string): void {
    for (const [id, future] of this.#all) {
      if (future.session !== session) continue;
      for (const wake of [...future.waiters]) wake();
      this.#forget(id, future);
    }
  }

  /** Forgets results that were read, the oldest first. */
  #forgetRead(): void {
    if (this.#bytes <= MOST_KEPT_BYTES && this.#all.size <= MOST_KEPT) return;
    for (const [id, future] of this.#all) {
      if (this.#bytes <= MOST_KEPT_BYTES / 2 && this.#all.size <= MOST_KEPT / 2) return;
      if (future.wasRead) this.#forget(id, future);
    }
  }

  #forget(id: string, { result }: Future): void {
    this.#all.delete(id);
    if (result !== null) this.#bytes -= sizeOf(result);
  }
}

function sizeOf(result: Result): number {
  return 200 + (result.kind === 'done' ? result.size : 0);
}

function woken({ waiters }: Future, ms: number, closed: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      waiters.delete(wake);
      closed.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    waiters.add(wake);
    closed.addEventListener('abort', wake);
  });
}
