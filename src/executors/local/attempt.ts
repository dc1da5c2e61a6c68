import type { ChildProcess } from 'node:child_process';
import type { RunId } from '../../base/ids.js';
import { attemptDirectory, readClaim } from './attempt-files.js';
import { commandProcess } from './command-process.js';
import type { Ending, ShimStatus } from './ending.js';
import { bootId, identityOf, isAlive, type ProcessIdentity } from '../../processes/process-identity.js';
import type { ProcessEntry } from '../../processes/process-table.js';
import type { Tree } from '../../processes/process-tree.js';

/** An attempt that was started or adopted here, until its end has been told. Times: `performance.now()`. */
export type Attempt = {
  readonly id: RunId;
  readonly number: number;
  readonly directory: string;
  readonly pid: number;
  /** Long ago for one that an earlier supervisor started. */
  readonly startedAt: number;
  /** Null for one that an earlier supervisor started: nobody will tell us of its end. */
  readonly child: ChildProcess | null;
  /** The machine or container that it began in, if its processes cannot be seen from here; null: they can. */
  readonly elsewhere: string | null;
  /** Known at once for an adopted attempt, else from the shim's file when it is needed. */
  identity: ProcessIdentity | null;
  /** The run's own process, once it is there; null: not known (yet). */
  command: ProcessIdentity | null;
  /** Processes that were seen to descend from its shim, as `keyOf` names them. */
  readonly seen: Set<string>;
  /** Null: it has none. Made for it, though its shim may not have entered it yet. */
  readonly cgroup: string | null;
  /** Someone asked it to end: it has ended when its whole tree is gone. */
  stopped: boolean;
  /** We have made it stand still. */
  paused: boolean;
  /** When SIGKILL was sent to all of it. */
  killedAt: number | null;
  /** Its shim died without a word; null: it lives, or has told the end. */
  orphan: Orphan | null;
  /** Since when nothing of it lives and nobody has said how it ended; null: it does, or somebody has. */
  unreadSince: number | null;
  /** How it ended, while others of its tree live on, and since when. */
  ending: Ending | null;
  endedAt: number;
  /** What a person should know of it while it goes on, in words. */
  trouble: string | null;
};

/** What is left of an attempt without its shim. */
export type Orphan = {
  since: number;
  /** How the shim died. */
  status: ShimStatus;
  /** Those of it that lived when they were last looked for. */
  witnesses: readonly ProcessIdentity[];
  /** They did not merely die a moment after their shim. */
  outlived: boolean;
};

/** What survives SIGKILL for so long (a dead disk, another user's process) does not hold the slot for ever, ms. */
const SURVIVAL_MS = 5000;
/** Helpers of a program that has ended need a moment to notice, ms. */
const PARTING_MS = 500;

/** Everything the attempt has started, as a tree to signal. */
export function treeOf(attempt: Attempt): Tree {
  const { pid, directory, number, child } = attempt;
  if (attempt.identity === null) {
    const claim = readClaim(attemptDirectory(directory, number));
    if (claim.kind === 'begun') attempt.identity = claim.identity;
  }
  // Not identified yet, but our own living child: no one else has its pid.
  const isOurs = attempt.identity === null && child?.exitCode === null && child.signalCode === null;
  const startTime = isOurs ? identityOf(pid)?.startTime : attempt.identity?.startTime;
  return { pid, startTime: startTime ?? null, directory, cgroup: attempt.cgroup, seen: attempt.seen };
}

/** Learns who the run's own process is; whether that is known now. About 50 µs until it is, and nothing after. */
export function isNamed(attempt: Attempt, census: () => readonly ProcessEntry[]): boolean {
  if (attempt.command !== null) return true;
  const { startTime } = treeOf(attempt);
  if (startTime === null) return false;
  attempt.identity ??= { pid: attempt.pid, startTime, bootId: bootId() };
  attempt.command = isAlive(attempt.identity) ? commandProcess(attempt.pid, census) : null;
  return attempt.command !== null;
}

type Standing = Pick<Attempt, 'ending' | 'endedAt' | 'stopped' | 'killedAt'>;

/** Whether the end of an attempt can be told, with so many living processes left of it. */
export function isOver({ ending, endedAt, stopped, killedAt }: Standing, left: number, now: number): boolean {
  if (left === 0) return ending !== null;
  if (killedAt !== null) return now - killedAt > SURVIVAL_MS;
  return ending !== null && !stopped && now - endedAt > PARTING_MS;
}
