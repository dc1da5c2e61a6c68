import type { QueuedJob, SlurmCalls } from './slurm-calls.js';

/** The jobs of this person, by the keys of their submissions. */
export type Queue = ReadonlyMap<string, QueuedJob>;

type Listener = {
  /** Whether anybody waits for what is in the queue. */
  isWanted: () => boolean;
  /** Jobs to ask accounting for: the controller does not know them. */
  addresses: () => string[];
  told: (queue: Queue) => void;
  /** The controller did not answer: there is only the disk to look at. */
  untold: () => void;
  /** The controller does not answer, in words; null: it does again. */
  silent: (words: string | null) => void;
};

/** While nothing changes the queue is looked at so many times more rarely. */
const CALM = 2;
/** Something has just changed, and more may, ms. */
const STIRRED_MS = 10_000;
/** A controller is not asked for more than this share of the time. */
const SHARE = 0.1;
/** Calls in a row that failed before anybody is told. */
const SILENT_AFTER = 3;

/** Asks the controller for all jobs at once, never twice at a time, and the more rarely the longer it takes. */
export class QueueWatch {
  readonly #calls: SlurmCalls;
  readonly #everyMs: number;
  readonly #listener: Listener;
  #timer: NodeJS.Timeout | null = null;
  #dueAt = Infinity;
  #asking: Promise<Queue | null> | null = null;
  #endedAt = -Infinity;
  #tookMs = 0;
  #stirredAt = -Infinity;
  #failures = 0;
  #last: { queue: Queue; at: number } | null = null;
  #hasAccounting = true;
  #isClosed = false;

  constructor(calls: SlurmCalls, everyMs: number, listener: Listener) {
    this.#calls = calls;
    this.#everyMs = everyMs;
    this.#listener = listener;
  }

  /** As it is now, or was a moment ago; null: the controller does not answer. */
  async first(): Promise<Queue | null> {
    if (this.#last !== null && performance.now() - this.#last.at < this.#everyMs) return this.#last.queue;
    return this.#ask();
  }

  /** Something has changed, so that more may. */
  stir(): void {
    this.#stirredAt = performance.now();
  }

  /** Something was submitted or ordered. */
  lookSoon(): void {
    this.stir();
    this.#lookAt(this.#endedAt + this.#pause());
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #pause(): number {
    const isCalm = performance.now() - this.#stirredAt > STIRRED_MS;
    return Math.max(this.#everyMs * (isCalm ? CALM : 1), this.#tookMs / SHARE);
  }

  #lookAt(at: number): void {
    if (this.#isClosed || this.#asking !== null || at >= this.#dueAt) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#dueAt = at;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#dueAt = Infinity;
        void this.#look();
      },
      Math.max(0, at - performance.now()),
    ).unref();
  }

  async #look(): Promise<void> {
    if (!this.#listener.isWanted()) return;
    const queue = await this.#ask();
    if (this.#isClosed) return;
    if (queue === null) this.#listener.untold();
    else this.#listener.told(queue);
    this.#lookAt(this.#endedAt + this.#pause());
  }

  #ask(): Promise<Queue | null> {
    this.#asking ??= this.#askNow().finally(() => (this.#asking = null));
    return this.#asking;
  }

  async #askNow(): Promise<Queue | null> {
    const began = performance.now();
    const found = await this.#calls.queue();
    this.#endedAt = performance.now();
    this.#tookMs = this.#endedAt - began;
    if (this.#isClosed) return null;
    if (found === null) return this.#failed();
    if (this.#failures >= SILENT_AFTER) this.#listener.silent(null);
    this.#failures = 0;
    const queue = await this.#withAccounted(found);
    // What was submitted meanwhile may not be in it.
    this.#last = { queue, at: began };
    return queue;
  }

  #failed(): null {
    this.#failures += 1;
    if (this.#failures === SILENT_AFTER) {
      this.#listener.silent("Slurm's controller does not answer: what is shown of its job is old");
    }
    return null;
  }

  async #withAccounted(found: readonly QueuedJob[]): Promise<Queue> {
    const jobs = new Map(found.flatMap((job) => (job.key === null ? [] : [[job.key, job] as const])));
    const missing = this.#hasAccounting ? this.#listener.addresses() : [];
    if (missing.length === 0) return jobs;
    const accounted = await this.#calls.accounted(missing);
    this.#hasAccounting = accounted !== null;
    for (const job of accounted ?? []) if (job.key !== null && !jobs.has(job.key)) jobs.set(job.key, job);
    return jobs;
  }
}
