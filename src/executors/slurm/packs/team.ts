import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { RunId } from '../../../base/ids.js';
import { shellQuote } from '../../../text/shell-words.js';
import type { Refusal } from '../../attempt/start-attempt.js';
import type { Ending, LaunchSpec, Start } from '../../executor.js';
import { claimantOf, isAliveHere, mayStillRun } from '../disk-evidence.js';
import { doneTo, endWords, notAsked, phaseOf, waitWords } from '../job-ending.js';
import type { Queue, QueueWatch } from '../queue-watch.js';
import { commentFor, type QueuedJob, type SlurmCalls, type Submitted } from '../slurm-calls.js';
import { kindOf, packTextFor } from '../job-options.js';
import { BEAT_MS, packFiles } from './pack-files.js';
import { Pack, type Worker } from './pack.js';

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
class Crew {
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
    const end = last?.seen === null || last === undefined ? 'is gone' : endWords(last.seen);
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
    void this.#submitSome(missing).finally(() => {
      this.#isSubmitting = false;
      this.#tools.stirred();
    });
  }

  /** Takes workers that wait out of the queue, as no run is left for them. A worker that is up ends by itself. */
  dismiss(): void {
    const waiting = this.live.flatMap(({ seen }) => (seen !== null && phaseOf(seen) === 'waits' ? [seen.address] : []));
    if (waiting.length === 0 || this.#dismissed) return;
    this.#dismissed = true;
    void this.#tools.calls.cancel([], waiting);
  }

  /** What the controller says of the workers. */
  told(queue: Queue): void {
    for (const worker of this.#pack.workers.values()) {
      const seen = queue.get(worker.name) ?? null;
      if (seen !== null) worker.seen = seen;
      if (worker.goneSince !== null) continue;
      if (seen === null ? this.#isForgotten(worker) : this.#isOver(worker, seen)) worker.goneSince = performance.now();
    }
  }

  #isOver(worker: Worker, seen: QueuedJob): boolean {
    worker.missingSince = null;
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

  /** As many as one array may have; the others a while later, if they are missing still. */
  async #submitSome(missing: number): Promise<void> {
    const { arraySize } = await this.#tools.calls.limits();
    await this.#submit(Math.min(missing, arraySize), arraySize > 1);
  }

  async #submit(count: number, inArray: boolean): Promise<void> {
    const { calls, environment, program } = this.#tools;
    const { key: pack, folder, text } = this.#pack;
    const key = `${pack}-${randomBytes(4).toString('hex')}`;
    this.#notBefore = performance.now() + BETWEEN_MS * 2 ** this.#failures;
    this.#pack.noteSubmission({ key, count });
    const log = join(folder, packFiles.log).replaceAll('%', '%%');
    const which = inArray
      ? ['--comment', commentFor(key), `--array=0-${count - 1}`]
      : ['--comment', commentFor(`${key}.0`)];
    const own = [...which, '-o', log, '-J', `memrl-pack:${pack}`];
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
  ${shellQuote(words)} ${shellQuote([key])}.\${SLURM_ARRAY_TASK_ID:-0} ${count}
  memrl_rc=$?
  case $memrl_rc in 0|126|127) exit $memrl_rc;; esac
  memrl_n=$((memrl_n + 1))
  sleep 0.2
done
exit $memrl_rc
`;
}

/** A pack with its workers, and the attempts in it that are watched. `words`: what those wait for that have no worker, as told last. */
export type Team = { readonly pack: Pack; readonly crew: Crew; readonly members: Set<Member>; words: string };

/** An attempt, until its end has been told. `known`: its number as workers know it, which is the one that it began by. */
export type Member = {
  readonly id: RunId;
  readonly number: number;
  readonly known: number;
  readonly directory: string;
  readonly team: Team;
  /** Answers the start, once it is up or never will be; null: it has been answered. */
  answer: ((start: Start) => void) | null;
  worker: Worker | null;
  killed: boolean;
  trouble: string | null;
  /** How it ended, by its worker, which Slurm ended; null: it has not, or that has been told. */
  interrupted: { ending: Ending; since: number } | null;
};

export function newMember(which: Pick<Member, 'id' | 'number' | 'known' | 'directory' | 'team'>): Member {
  return { ...which, answer: null, worker: null, killed: false, trouble: null, interrupted: null };
}

/** An attempt that was taken over as a later one has a link of that number. */
export function ownNumber(folder: string, number: number): number {
  try {
    return Number(basename(realpathSync(folder))) || number;
  } catch {
    return number;
  }
}

/** How many runs have a worker or need one: not those whose worker is gone, and that may run on without it. */
export function withWork(members: ReadonlySet<Member>): number {
  return [...members].filter(({ answer, worker }) => answer !== null || worker?.goneSince === null).length;
}

/** The attempts that a worker has begun, by what is on the disk. */
export function begunBy(worker: Worker, { pack, members }: Team): Member[] {
  return [...members].filter(({ directory, known }) => {
    const claimant = claimantOf(directory, known, [pack.key]);
    return claimant.kind === 'ours' && claimant.key === worker.name;
  });
}

export function isOver({ seen }: Worker): boolean {
  return seen !== null && phaseOf(seen) === 'over';
}

/** What Slurm did to a worker that is over, as the end of its runs; null: nothing, or it is not known to be over. */
export function doneToWorker(worker: Worker): Ending | null {
  const done = isOver(worker) ? doneTo(worker.seen!, notAsked, '') : null;
  return done !== null && 'reason' in done ? { ...done, reason: `${wordsFor(worker)} was lost: ${done.reason}` } : done;
}

/**
 * How a run ended whose worker is gone, and that left no exit code; or words, where it may not have ended.
 *
 * @param isGivenUp A person has asked for its end.
 */
export function lossOf({ directory, known }: Member, worker: Worker, isGivenUp: boolean): Ending | string {
  // What Slurm has not ended it has forgotten.
  const lives = worker.seen === null ? mayStillRun(directory, known) : isAliveHere(directory, known);
  const words = wordsFor(worker);
  if (lives === true && !isGivenUp) return `${words} is gone; it seems to run on, and its exit code is waited for`;
  return doneToWorker(worker) ?? { kind: 'interrupted', signal: 'SIGKILL', reason: `${words} was lost` };
}

function wordsFor({ seen, up }: Worker): string {
  const job = up === null ? (seen?.address ?? 'unknown') : `${up.job} on ${up.node}`;
  return `its worker, Slurm job ${job},`;
}

export type PackSetting = {
  /** The folder of packs. */
  root: string;
  calls: SlurmCalls;
  queue: Pick<QueueWatch, 'lookSoon'>;
  environment: Readonly<Record<string, string>>;
  /** The program of a worker. */
  program: string;
};

/** The packs that are there, with their workers. */
export class Teams {
  readonly #setting: PackSetting;
  readonly #refused: (members: ReadonlySet<Member>, why: Refusal) => void;
  readonly #teams = new Map<string, Team>();
  /** Those that take more, by what their runs have in common. */
  readonly #byKind = new Map<string, Team>();

  /** @param refused Slurm does not take workers for these. */
  constructor(setting: PackSetting, refused: (members: ReadonlySet<Member>, why: Refusal) => void) {
    this.#setting = setting;
    this.#refused = refused;
  }

  get size(): number {
    return this.#teams.size;
  }

  all(): Team[] {
    return [...this.#teams.values()];
  }

  clear(): void {
    this.#teams.clear();
  }

  /** The one that takes such a run. @throws What the system says. */
  of(spec: LaunchSpec, gpus: number): Team {
    const text = packTextFor(spec, gpus);
    const kind = kindOf(text);
    const known = this.#byKind.get(kind);
    if (known !== undefined) return known;
    const team = this.#added(Pack.make(this.#setting.root, randomBytes(8).toString('hex'), text));
    this.#byKind.set(kind, team);
    return team;
  }

  /** That of a key, which an earlier supervisor may have made; null: there is none. */
  find(key: string): Team | null {
    const known = this.#teams.get(key);
    if (known !== undefined) return known;
    const pack = Pack.find(this.#setting.root, key);
    return pack === null ? null : this.#added(pack);
  }

  remove({ pack }: Team): void {
    this.#teams.delete(pack.key);
    for (const [kind, team] of this.#byKind) if (team.pack === pack) this.#byKind.delete(kind);
    pack.remove();
  }

  #added(pack: Pack): Team {
    const { calls, environment, program, queue } = this.#setting;
    const members = new Set<Member>();
    const crew = new Crew(pack, {
      ...{ calls, environment, program, stirred: () => queue.lookSoon() },
      refused: ({ reason, transient }) => this.#refused(members, { kind: 'refused', reason, transient }),
    });
    const team = { pack, crew, members, words: '' };
    this.#teams.set(pack.key, team);
    return team;
  }
}
