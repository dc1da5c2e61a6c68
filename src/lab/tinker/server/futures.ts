/** Accepted requests: the results of all of them, and the queue of those that wait. */
import { systemRefusal } from '../../../base/user-error.js';
import { bugWords, Refusal, refusalOf } from './refusal.js';

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
  /** Bytes of the request. */
  readonly bytes: number;
  result: Result | null;
  wasRead: boolean;
  /** Takes the request out of the queue; null when it cannot be. */
  remove: (() => void) | null;
  readonly waiters: Set<() => void>;
};

/** Limit of the requests that wait for their results, in bytes. */
const MOST_PENDING_BYTES = 512 * 2 ** 20;
/** Results that were read are kept up to these limits, because an answer may be lost on its way. */
const MOST_KEPT_BYTES = 256 * 2 ** 20;
const MOST_KEPT = 100_000;
/** Results that nobody has read are kept; beyond this multiple of the limits no request is accepted. */
const UNREAD_FACTOR = 2;

/** Keeps the results of accepted requests. Each has an id, and a client that asks early waits a while. */
export class Futures {
  readonly #prefix: string;
  readonly #mostPending: number;
  readonly #bug: (error: unknown) => void;
  readonly #all = new Map<string, Future>();
  #count = 0;
  readonly #pending = { count: 0, bytes: 0 };
  readonly #kept = { read: 0, bytes: 0 };

  /**
   * @param prefix Names this start of the service in all ids.
   * @param mostPending Limit of the requests that wait for their results.
   * @param bug Takes errors that no request is to blame for.
   */
  constructor(prefix: string, mostPending: number, bug: (error: unknown) => void) {
    this.#prefix = prefix;
    this.#mostPending = mostPending;
    this.#bug = bug;
  }

  /** @param bytes Size of the request. @returns the id of its result. @throws Refusal when too much waits already. */
  create(session: string, bytes: number): string {
    this.#requireRoom(bytes);
    const id = `${this.#prefix}-${++this.#count}`;
    this.#all.set(id, { session, bytes, result: null, wasRead: false, remove: null, waiters: new Set() });
    this.#pending.count++;
    this.#pending.bytes += bytes;
    return id;
  }

  #requireRoom(bytes: number): void {
    const { count, bytes: waiting } = this.#pending;
    if (count >= this.#mostPending || (count > 0 && waiting + bytes > MOST_PENDING_BYTES)) {
      throw new Refusal(429, `${count} requests with ${waiting} bytes wait already; try again later.`);
    }
    const hasRoom = this.#all.size < UNREAD_FACTOR * MOST_KEPT && this.#kept.bytes < UNREAD_FACTOR * MOST_KEPT_BYTES;
    if (!hasRoom) throw new Refusal(429, `${this.#all.size} results wait to be read; try again later.`);
  }

  settle(id: string, result: Result): void {
    const future = this.#all.get(id);
    if (future === undefined || future.result !== null) return;
    this.#endPending(future);
    future.result = result;
    this.#kept.bytes += sizeOf(result);
    for (const wake of [...future.waiters]) wake();
    this.#forgetRead();
  }

  /** @param remove Takes a request out of the queue, when its client gives it up. */
  onCancel(id: string, remove: () => void): void {
    const future = this.#all.get(id);
    if (future !== undefined) future.remove = remove;
  }

  /** Ends a request that its client has given up. Work that has begun is finished, and its result is thrown away. */
  cancel(id: string): void {
    this.#all.get(id)?.remove?.();
    this.settle(id, { kind: 'failed', error: 'The client has cancelled this request.', category: 'user' });
  }

  /** Settles a request that could not be carried out; its client reads why. */
  fail(id: string, error: unknown): void {
    const refusal = refusalOf(error);
    if (refusal !== null) return this.settle(id, { kind: 'failed', error: refusal.detail, category: 'user' });
    const words = systemRefusal(error);
    if (words === null) this.#bug(error);
    this.settle(id, { kind: 'failed', error: words ?? bugWords, category: 'server' });
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
    if (future.result !== null && !future.wasRead) {
      future.wasRead = true;
      this.#kept.read++;
    }
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
    const isOver = (share: number) => this.#kept.bytes > share * MOST_KEPT_BYTES || this.#all.size > share * MOST_KEPT;
    if (!isOver(1)) return;
    for (const [id, future] of this.#all) {
      if (this.#kept.read === 0 || !isOver(0.5)) return;
      if (future.wasRead) this.#forget(id, future);
    }
  }

  #forget(id: string, future: Future): void {
    this.#all.delete(id);
    if (future.result === null) return this.#endPending(future);
    this.#kept.bytes -= sizeOf(future.result);
    if (future.wasRead) this.#kept.read--;
  }

  #endPending({ bytes }: Future): void {
    this.#pending.count--;
    this.#pending.bytes -= bytes;
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

/** Work of a session. Jobs of the same `group` that wait in one session may be done together. */
type Job<Request> = {
  readonly request: Request;
  readonly group: string | null;
  /** Does several jobs of a group in one call; its results go to their `done`, its error to their `failed`. */
  readonly work: (requests: readonly Request[]) => Promise<readonly unknown[]>;
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
};

/** Limit of the jobs that are done in one call. */
const MOST_TOGETHER = 64;
/** A job of a group waits while others of its session keep arriving: so long for the next, and for so many times. */
const GATHERING_MS = 1;
const MOST_GATHERINGS = 20;

/**
 * Does one job at a time, session by session, so that a session with many jobs does not hold up one with few. The
 * jobs of a session are done in their order, but those of a group join the first of them.
 *
 * Clients send the requests of a batch one by one. Without the short wait the first of them would be computed alone, which takes
 * nearly as long as all of them together.
 */
export class RequestQueue {
  readonly #queues = new Map<string, Job<unknown>[]>();
  #isWorking = false;

  /** @returns a function that removes the job if it has not begun. */
  add<Request>(session: string, job: Job<Request>): () => void {
    const queue = this.#queues.get(session) ?? [];
    const added = job as unknown as Job<unknown>;
    queue.push(added);
    this.#queues.set(session, queue);
    if (!this.#isWorking) void this.#workOff();
    return () => {
      const waiting = this.#queues.get(session) ?? [];
      const at = waiting.indexOf(added);
      if (at >= 0) waiting.splice(at, 1);
      if (waiting.length === 0) this.#queues.delete(session);
    };
  }

  /** Fails the jobs of a session that have not begun. */
  drop(session: string, why: unknown): void {
    const queue = this.#queues.get(session) ?? [];
    this.#queues.delete(session);
    for (const job of queue) job.failed(why);
  }

  async #workOff(): Promise<void> {
    this.#isWorking = true;
    for (;;) {
      await this.#gather();
      const jobs = this.#next();
      if (jobs.length === 0) break;
      await doTogether(jobs);
    }
    this.#isWorking = false;
  }

  async #gather(): Promise<void> {
    for (let times = 0; times < MOST_GATHERINGS; times++) {
      const [queue = []] = this.#queues.values();
      const { length } = queue;
      if (length === 0 || length >= MOST_TOGETHER || queue[0]!.group === null) return;
      await new Promise((resolve) => setTimeout(resolve, GATHERING_MS));
      if (queue.length === length) return;
    }
  }

  /** Takes the first job of the next session and the jobs of its group; that session then goes to the end of the queue. */
  #next(): Job<unknown>[] {
    const [first] = this.#queues;
    if (first === undefined) return [];
    const [session, queue] = first;
    this.#queues.delete(session);
    const jobs = takeGroup(queue);
    if (queue.length > 0) this.#queues.set(session, queue);
    return jobs;
  }
}

function takeGroup(queue: Job<unknown>[]): Job<unknown>[] {
  const jobs = [queue.shift()!];
  const { group } = jobs[0]!;
  if (group === null) return jobs;
  for (let at = 0; at < queue.length && jobs.length < MOST_TOGETHER;) {
    if (queue[at]!.group === group) jobs.push(...queue.splice(at, 1));
    else at++;
  }
  return jobs;
}

async function doTogether(jobs: readonly Job<unknown>[]): Promise<void> {
  try {
    const results = await jobs[0]!.work(jobs.map(({ request }) => request));
    jobs.forEach((job, at) => job.done(results[at]));
  } catch (error) {
    if (jobs.length === 1) return jobs[0]!.failed(error);
    // A single job may be at fault. Each is done alone, so that the others get their results.
    for (const job of jobs) await doTogether([job]);
  }
}
