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
  /** Takes the request out of the queue, or ends its computation; null while it waits for earlier ones of its model. */
  giveUp: (() => void) | null;
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
   * @param prefix Prefix of all ids, different for each start of the service.
   * @param mostPending Limit of the requests that wait for their results.
   * @param bug Receives errors that no request caused.
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
    this.#all.set(id, { session, bytes, result: null, wasRead: false, giveUp: null, waiters: new Set() });
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

  /** @param giveUp Takes a request out of the queue, or ends its computation, when its client gives it up. */
  onCancel(id: string, giveUp: () => void): void {
    const future = this.#all.get(id);
    if (future === undefined || future.result !== null) giveUp();
    else future.giveUp = giveUp;
  }

  /** Ends a request that its client has given up. */
  cancel(id: string): void {
    this.#all.get(id)?.giveUp?.();
    this.settle(id, { kind: 'failed', error: 'The client has cancelled this request.', category: 'user' });
  }

  /** Settles a request with an error, which its client gets as the result. */
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
    if (future === undefined)
      throw new Refusal(410, `The result of request ${id} is no longer stored, or never existed.`);
    if (future.result === null) await waitForResult(future, ms, closed);
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

function waitForResult({ waiters }: Future, ms: number, closed: AbortSignal): Promise<void> {
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
  /**
   * Does several jobs of a group in one call; its results go to their `done`, its error to their `failed`. `signal`: tells that all of
   * them have been given up.
   */
  readonly work: (requests: readonly Request[], signal: AbortSignal) => Promise<readonly unknown[]>;
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
};

/** Limit of the jobs that are done in one call. */
const MOST_TOGETHER = 64;
/** Time in ms that a job waits for the next one of its group, and the maximum number of such waits. */
const GATHERING_MS = 1;
const MOST_GATHERINGS = 20;

/** Jobs of a session. `begun`: those of the call that is under way, without those that have been given up. */
type Line = {
  readonly waiting: Job<unknown>[];
  begun: { readonly jobs: Set<Job<unknown>>; readonly cancel: AbortController } | null;
};

/**
 * Does the jobs of each session one after the other, in their order, but those of a group join the first of them. Sessions do not wait
 * for each other.
 *
 * Clients send the requests of a batch one by one. Without the short wait the first of them would be computed alone, which takes
 * nearly as long as all of them together.
 */
export class RequestQueue {
  readonly #lines = new Map<string, Line>();

  /** @returns a function that gives the job up: it is not begun, or is told to end. */
  add<Request>(session: string, job: Job<Request>): () => void {
    const added = job as unknown as Job<unknown>;
    const line = this.#lines.get(session) ?? { waiting: [], begun: null };
    line.waiting.push(added);
    if (!this.#lines.has(session)) {
      this.#lines.set(session, line);
      void this.#workOff(session, line);
    }
    return () => giveUp(line, added);
  }

  /** Fails the jobs of a session that have not begun, and gives up those that have. */
  drop(session: string, why: unknown): void {
    const line = this.#lines.get(session);
    for (const job of line?.waiting.splice(0) ?? []) job.failed(why);
    line?.begun?.cancel.abort();
  }

  async #workOff(session: string, line: Line): Promise<void> {
    while (line.waiting.length > 0) {
      await gather(line.waiting);
      const jobs = takeGroup(line.waiting);
      if (jobs.length > 0) await doTogether(line, jobs);
    }
    this.#lines.delete(session);
  }
}

function giveUp({ waiting, begun }: Line, job: Job<unknown>): void {
  const at = waiting.indexOf(job);
  if (at >= 0) waiting.splice(at, 1);
  else if (begun?.jobs.delete(job) === true && begun.jobs.size === 0) begun.cancel.abort();
}

async function gather(waiting: readonly Job<unknown>[]): Promise<void> {
  for (let times = 0; times < MOST_GATHERINGS; times++) {
    const { length } = waiting;
    if (length === 0 || length >= MOST_TOGETHER || waiting[0]!.group === null) return;
    await new Promise((resolve) => setTimeout(resolve, GATHERING_MS));
    if (waiting.length === length) return;
  }
}

function takeGroup(waiting: Job<unknown>[]): Job<unknown>[] {
  const jobs = waiting.splice(0, 1);
  const group = jobs[0]?.group ?? null;
  if (group === null) return jobs;
  for (let at = 0; at < waiting.length && jobs.length < MOST_TOGETHER;) {
    if (waiting[at]!.group === group) jobs.push(...waiting.splice(at, 1));
    else at++;
  }
  return jobs;
}

async function doTogether(line: Line, jobs: readonly Job<unknown>[]): Promise<void> {
  const cancel = new AbortController();
  const begun = { jobs: new Set(jobs), cancel };
  line.begun = begun;
  try {
    const requests = jobs.map(({ request }) => request);
    const results = await jobs[0]!.work(requests, cancel.signal);
    jobs.forEach((job, at) => job.done(results[at]));
  } catch (error) {
    if (jobs.length === 1 || cancel.signal.aborted) return jobs.forEach((job) => job.failed(error));
    // One job may have caused the error, so each is done alone, and the others get their results.
    for (const job of jobs) if (begun.jobs.has(job)) await doTogether(line, [job]);
  } finally {
    line.begun = null;
  }
}
