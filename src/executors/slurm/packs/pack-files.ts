/**
 * What a supervisor and the workers of a pack tell each other, on the disk that they share, in `.supervisor/packs/KEY/`:
 *
 *   pack.json               the supervisor, once: what a worker asks of Slurm, and what its runs have in common
 *   queue.jsonl             the supervisor: the attempts of the pack, and orders to them, oldest first
 *   submissions.jsonl       the supervisor: how many workers it asked Slurm for by which key, written before that
 *   KEY.INDEX.jsonl         that worker: what it has begun, and how it ended; touched every few seconds while the worker lives
 *   log                     whatever the workers print
 *
 * Each file has one writer. None of them says whose an attempt is: its own `pid` file does.
 */
import { closeSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { RunId } from '../../../base/ids.js';
import { parseJsonLine } from '../../../contract/json-line.js';
import { openForAppending } from '../../../files/regular-file.js';
import type { Ending } from '../../executor.js';

export const packFiles = {
  pack: 'pack.json',
  queue: 'queue.jsonl',
  submissions: 'submissions.jsonl',
  log: 'log',
} as const;

/** Between signs of life of a worker, ms. */
export const BEAT_MS = 10_000;

export function workerFile(folder: string, worker: string): string {
  return join(folder, `${worker}.jsonl`);
}

/** `environment`: what the environments of its runs are made from; each task has what is its own. `room`: runs of a worker at a time. */
export type PackText = {
  readonly options: readonly string[];
  readonly room: number;
  readonly workers: number;
  readonly environment: Readonly<Record<string, string>>;
};

/** One attempt, complete but for what its worker knows. `seconds`: within which it is ended; null: never. */
export type PackTask = {
  readonly id: RunId;
  readonly directory: string;
  readonly attempt: number;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly own: Readonly<Record<string, string>>;
  readonly nice?: number;
  readonly seconds: number | null;
};

export type PackOrder = 'terminate' | 'kill' | 'pause' | 'continue';

/** A line of the queue. */
export type QueueLine =
  | { readonly kind: 'task'; readonly task: PackTask }
  | { readonly kind: 'order'; readonly order: PackOrder; readonly id: RunId; readonly attempt: number };

export type Submission = { readonly key: string; readonly count: number };

/**
 * A line of a worker. `gpus`: indices of its GPUs on that node; absent: an older worker does not tell. `begun`: is up, which is not said of a run of some milliseconds. `left`: the worker takes nothing any more, and
 * nothing of it runs.
 */
export type WorkerLine =
  | { readonly kind: 'up'; readonly job: number; readonly node: string; readonly gpus?: readonly number[] }
  | { readonly kind: 'begun'; readonly id: RunId; readonly attempt: number }
  | { readonly kind: 'refused'; readonly id: RunId; readonly attempt: number; readonly reason: string }
  | { readonly kind: 'ended'; readonly id: RunId; readonly attempt: number; readonly ending: Ending }
  | { readonly kind: 'troubled'; readonly id: RunId; readonly attempt: number; readonly words: string | null }
  | { readonly kind: 'left' };

/** Adds lines to a file of the pack, which nobody else may read: they hold environments. @throws What the system says. */
export function addLines(path: string, lines: readonly (QueueLine | WorkerLine | Submission)[]): void {
  const opened = openForAppending(path);
  if (opened.kind !== 'file') throw new Error(opened.kind === 'absent' ? 'it is gone' : opened.reason);
  try {
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    for (let done = 0; done < bytes.length;) done += writeSync(opened.descriptor, bytes, done);
  } finally {
    closeSync(opened.descriptor);
  }
}

/** The lines that one program of ours has written for the other; what is none is skipped. */
export function linesIn<Line>(texts: readonly string[]): Line[] {
  return texts.flatMap((text) => (parseJsonLine(text) as Line | null) ?? []);
}
