import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { RunId } from '../../../base/ids.js';
import type { Ending, Start } from '../../executor.js';
import { isAliveHere, mayStillRun } from '../disk-evidence.js';
import { doneTo } from '../job-ending.js';
import type { Crew } from './crew.js';
import type { Pack, Worker } from './pack.js';

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
  const done = seen === null ? null : doneTo(seen, { terminated: false, killed: false }, '');
  if (done === null) return { kind: 'interrupted', signal: 'SIGKILL', reason: `${job} was lost` };
  return 'reason' in done ? { ...done, reason: `${job} was lost: ${done.reason}` } : done;
}

function nameOf({ seen, up }: Worker): string {
  return up === null ? `Slurm job ${seen?.address ?? 'unknown'}` : `Slurm job ${up.job} on ${up.node}`;
}
