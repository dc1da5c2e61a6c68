import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { RunId } from '../../../base/ids.js';
import type { Refusal } from '../../attempt/prepared-attempt.js';
import type { Ending, LaunchSpec, Start } from '../../executor.js';
import { claimantOf, isAliveHere, mayStillRun } from '../disk-evidence.js';
import { doneTo, notAsked } from '../job-ending.js';
import type { QueueWatch } from '../queue-watch.js';
import type { SlurmCalls } from '../slurm-calls.js';
import { Crew } from './crew.js';
import { kindOf, packTextFor } from './pack-choice.js';
import { Pack, type Worker } from './pack.js';

/** A pack with its workers, and the attempts in it that are watched. */
export type Team = { readonly pack: Pack; readonly crew: Crew; readonly members: Set<Member> };

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
};

export function newMember(which: Pick<Member, 'id' | 'number' | 'known' | 'directory' | 'team'>): Member {
  return { ...which, answer: null, worker: null, killed: false, trouble: null };
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

/**
 * How a run ended whose worker is gone, and that left no exit code; or words, where it may not have ended.
 *
 * @param isGivenUp A person has asked for its end.
 */
export function lossOf({ directory, known }: Member, worker: Worker, isGivenUp: boolean): Ending | string {
  const { seen } = worker;
  const job = `its worker, ${nameOf(worker)},`;
  // What Slurm has not ended it has forgotten.
  const lives = seen === null ? mayStillRun(directory, known) : isAliveHere(directory, known);
  if (lives === true && !isGivenUp) return `${job} is gone; it seems to run on, and its exit code is waited for`;
  const done = seen === null ? null : doneTo(seen, notAsked, '');
  if (done === null) return { kind: 'interrupted', signal: 'SIGKILL', reason: `${job} was lost` };
  return 'reason' in done ? { ...done, reason: `${job} was lost: ${done.reason}` } : done;
}

function nameOf({ seen, up }: Worker): string {
  return up === null ? `Slurm job ${seen?.address ?? 'unknown'}` : `Slurm job ${up.job} on ${up.node}`;
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
    const team = { pack, crew, members };
    this.#teams.set(pack.key, team);
    return team;
  }
}
