import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { shellQuote } from '../../../text/shell-words.js';
import { phaseOf, waitWords } from '../job-ending.js';
import type { Queue } from '../queue-watch.js';
import { commentFor, type QueuedJob, type SlurmCalls, type Submitted } from '../slurm-calls.js';
import { BEAT_MS, packFiles } from './pack-files.js';
import type { Pack, Worker } from './pack.js';

/** A worker that the controller does not know for so long, and that gives no sign of life, is taken for gone, ms. */
const FORGOTTEN_MS = 10_000;
const SILENT_MS = 6 * BEAT_MS;
/** Between submissions of workers for one pack; doubles with each worker that did not come up, ms. */
const BETWEEN_MS = 1000;
/** Workers in a row that did not come up before the runs are given up. */
const GIVE_UP_AFTER = 3;

type CrewTools = {
  readonly calls: SlurmCalls;
  /** The environment of the supervisor. */
  readonly environment: Readonly<Record<string, string>>;
  /** Path of the worker program. */
  readonly program: string;
  /** Something was submitted. */
  readonly stirred: () => void;
  /** Slurm does not take the workers. */
  readonly refused: (why: Extract<Submitted, { kind: 'refused' }>) => void;
};

/** Sees to it that a pack has as many workers as it needs, and knows which of them are gone. */
export class Crew {
  readonly #pack: Pack;
  readonly #tools: CrewTools;
  #isSubmitting = false;
  #notBefore = 0;
  /** Workers that are gone and never came up, since one did. */
  #failures = 0;
  #dismissed = false;

  constructor(pack: Pack, tools: CrewTools) {
    this.#pack = pack;
    this.#tools = tools;
  }

  /** Workers that take runs, or will. */
  get live(): Worker[] {
    return [...this.#pack.workers.values()].filter(({ goneSince }) => goneSince === null);
  }

  get isSubmitting(): boolean {
    return this.#isSubmitting;
  }

  /** Why no worker will come, in words; null: one may. */
  get hopeless(): string | null {
    if (this.#failures < GIVE_UP_AFTER || this.live.some(({ up }) => up !== null)) return null;
    const last = [...this.#pack.workers.values()].findLast(({ goneSince, up }) => goneSince !== null && up === null);
    const job = last?.seen === null || last === undefined ? 'its job' : `Slurm job ${last.seen.address}`;
    const end = last?.seen === null || last === undefined ? 'is gone' : `ended as ${last.seen.state}`;
    const words = this.#pack.lastWords();
    return `no worker came up: ${job} ${end}${words === null ? '' : `: ${words}`}`;
  }

  /** @param runs How many have not ended. */
  fill(runs: number): void {
    const { text } = this.#pack;
    const missing = Math.min(text.workers, Math.ceil(runs / text.room)) - this.live.length;
    if (missing <= 0 || this.#isSubmitting || performance.now() < this.#notBefore) return;
    this.#isSubmitting = true;
    this.#dismissed = false;
    void this.#submit(missing).finally(() => {
      this.#isSubmitting = false;
      this.#tools.stirred();
    });
  }

  /** Nothing is left to do: workers that wait leave the queue. One that is up leaves by itself. */
  dismiss(): void {
    const waiting = this.live.flatMap(({ seen }) => (seen !== null && phaseOf(seen) === 'waits' ? [seen.address] : []));
    if (waiting.length === 0 || this.#dismissed) return;
    this.#dismissed = true;
    void this.#tools.calls.cancel([], waiting);
  }

  /** What the controller says of the workers. */
  told(queue: Queue): void {
    for (const worker of this.live) {
      const seen = queue.get(worker.name) ?? null;
      if (seen === null ? this.#isForgotten(worker) : this.#isOver(worker, seen)) worker.goneSince = performance.now();
    }
  }

  #isOver(worker: Worker, seen: QueuedJob): boolean {
    Object.assign(worker, { seen, missingSince: null });
    const isOver = phaseOf(seen) === 'over';
    // A worker that the controller has forgotten is no reason to expect that the next one fails.
    if (isOver && worker.up === null) this.#failures += 1;
    return isOver;
  }

  /** A worker says that it is up. */
  cameUp(): void {
    this.#failures = 0;
  }

  /** What the runs wait for that have no worker, in words. */
  waitWords(): string {
    const { live } = this;
    const up = live.filter((worker) => worker.up !== null);
    if (up.length > 0)
      return `waits for one of ${up.length} ${up.length === 1 ? 'worker' : 'workers'} of Slurm to be free`;
    const [worker] = live;
    if (worker === undefined || worker.seen === null) return 'its workers are being submitted to Slurm';
    if (phaseOf(worker.seen) === 'waits') return `its worker: ${waitWords(worker.seen)}`;
    return `its worker, Slurm job ${worker.seen.address}, is being started on ${worker.seen.nodes}`;
  }

  async #submit(count: number): Promise<void> {
    const { calls, environment, program } = this.#tools;
    const { key: pack, folder, text } = this.#pack;
    const key = `${pack}-${randomBytes(4).toString('hex')}`;
    this.#notBefore = performance.now() + BETWEEN_MS * 2 ** this.#failures;
    this.#pack.noteSubmission({ key, count });
    const log = join(folder, packFiles.log).replaceAll('%', '%%');
    const own = ['--comment', commentFor(key), '-o', log, `--array=0-${count - 1}`, '-J', `memrl-pack:${pack}`];
    const script = workerScript({ program, folder, key, count });
    const submitted = await calls.submit([...text.options, ...own], script, environment);
    if (submitted.kind === 'refused') {
      for (const worker of this.live.filter(({ name }) => name.startsWith(`${key}.`)))
        Object.assign(worker, { goneSince: performance.now(), isSettled: true });
      this.#tools.refused(submitted);
    }
  }

  #isForgotten(worker: Worker): boolean {
    worker.missingSince ??= performance.now();
    const isLong = performance.now() - worker.missingSince > FORGOTTEN_MS;
    return isLong && !this.#pack.isHeardOf(worker, SILENT_MS);
  }
}

type Called = { program: string; folder: string; key: string; count: number };

/**
 * The script of a worker. Its shell starts the worker again if that is killed, as it has runs that live on; the signals that Slurm
 * sends to all processes of a job are for the worker.
 */
function workerScript({ program, folder, key, count }: Called): string {
  const words = ['env', '-u', 'NODE_OPTIONS', process.execPath, program, folder];
  return `#!/bin/sh
trap : TERM INT HUP
memrl_n=0
while [ $memrl_n -lt 5 ]; do
  ${shellQuote(words)} ${shellQuote([key])}.$SLURM_ARRAY_TASK_ID ${count}
  memrl_rc=$?
  case $memrl_rc in 0|126|127) exit $memrl_rc;; esac
  memrl_n=$((memrl_n + 1))
  sleep 0.2
done
exit $memrl_rc
`;
}
