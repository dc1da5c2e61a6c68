import type { RunId } from '../../base/ids.js';
import type { LaunchSpec, Start } from '../executor.js';
import type { QueuedJob, SlurmCalls } from './slurm-calls.js';

/** An attempt that was submitted or adopted here, until its end has been told. Times: `performance.now()`. */
export type Job = {
  readonly id: RunId;
  readonly number: number;
  readonly directory: string;
  /** Null: adopted. */
  readonly spec: LaunchSpec | null;
  /** Of its submissions: a job with any of them is this one. */
  readonly keys: string[];
  /** What Slurm calls it; null: not known (yet). */
  address: string | null;
  /** Answers the start, once it is up or never will be; null: it has been answered. */
  answer: ((start: Start) => void) | null;
  /** As the controller told of it last; null: it never did. */
  seen: QueuedJob | null;
  /** Since when the controller answers and does not know it; null: it does, or was not asked. */
  missingSince: number | null;
  /** Since when the controller tells of it otherwise than the disk: that its end was told by one, and not by the other. */
  disagreesSince: number | null;
  terminated: boolean;
  killed: boolean;
  paused: boolean;
  /** What is yet to be told to Slurm, oldest first. */
  orders: Order[];
  /** Its GPUs on its node, as its claim tells; null: that has not been read yet. */
  gpus: readonly number[] | null;
  /** What a person should know of it, in words. */
  trouble: string | null;
};

export type Order = 'terminate' | 'cancel' | 'pause' | 'continue';

export function newJob(
  which: Pick<Job, 'id' | 'number' | 'directory' | 'spec' | 'keys' | 'address'>,
  answer: Job['answer'],
): Job {
  const told = { seen: null, missingSince: null, disagreesSince: null, gpus: null, trouble: null };
  return { ...which, ...told, answer, terminated: false, killed: false, paused: false, orders: [] };
}

/** The number by which people know it. */
export function numberOf({ seen, address }: Pick<Job, 'seen' | 'address'>): number {
  return seen?.number ?? Number.parseInt(address ?? '0', 10);
}

/** `scancel` with these words. The batch shell and all that it has started get the signal. */
const orderWords: Readonly<Record<Order, readonly string[]>> = {
  terminate: ['--full', '-s', 'TERM'],
  cancel: [],
  pause: ['--full', '-s', 'STOP'],
  continue: ['--full', '-s', 'CONT'],
};

/** Addresses in one call. */
const AT_ONCE = 500;

/** Tells Slurm to signal and cancel jobs: equal orders of one moment by one call, and again until they got there. */
export class JobOrders {
  readonly #calls: SlurmCalls;
  readonly #given = new Set<Job>();
  #isCalling = false;

  constructor(calls: SlurmCalls) {
    this.#calls = calls;
  }

  give(job: Job, order: Order): void {
    job.orders.push(order);
    this.#soon(job);
  }

  /** What was ordered before anybody knew what Slurm calls it. */
  addressKnown(job: Job): void {
    if (job.orders.length > 0) this.#soon(job);
  }

  /** To be called now and then with all jobs: a cancelled one that is still there is cancelled again. */
  again(jobs: readonly Job[]): void {
    for (const job of jobs) {
      if (job.killed && job.orders.length === 0) job.orders.push('cancel');
      this.addressKnown(job);
    }
  }

  /** A controller that does not know a job may have given its number to another one, which must not be signalled. */
  #soon(job: Job): void {
    if (job.address === null || job.missingSince !== null) return;
    this.#given.add(job);
    if (!this.#isCalling) setImmediate(() => void this.#carryOut());
  }

  async #carryOut(): Promise<void> {
    if (this.#isCalling) return;
    this.#isCalling = true;
    while (this.#given.size > 0) await this.#next();
    this.#isCalling = false;
  }

  /** The first order of each that has the same one. One that did not get there is given again by `again`. */
  async #next(): Promise<void> {
    const given = [...this.#given].filter(({ orders }) => orders.length > 0);
    const order = given[0]?.orders[0];
    const same = given.filter(({ orders }) => orders[0] === order).slice(0, AT_ONCE);
    if (order === undefined) return this.#given.clear();
    const addresses = same.map(({ address }) => address!);
    const isDone = await this.#calls.cancel(orderWords[order], addresses);
    for (const job of same) {
      if (isDone) job.orders.shift();
      if (!isDone || job.orders.length === 0) this.#given.delete(job);
    }
  }
}
