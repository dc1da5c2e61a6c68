import type { RunId } from '../../base/ids.js';
import type { LaunchSpec, Start } from '../executor.js';
import type { QueuedJob } from './slurm-calls.js';

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
