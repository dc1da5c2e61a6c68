import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { RunId } from '../../base/ids.js';
import { bootId, identityOf, isAlive, type ProcessIdentity, readStat } from '../../processes/process-identity.js';
import type { ProcessEntry, ProcessTable } from '../../processes/process-table.js';
import { keyOf, type Tree } from '../../processes/process-tree.js';
import type { Ending } from '../executor.js';
import { attemptDirectory, readClaim } from '../attempt/attempt-files.js';
import type { ShimStatus } from '../attempt/ending.js';

export function newAttempt(
  which: Pick<Attempt, 'id' | 'number' | 'directory' | 'pid' | 'cgroup' | 'elsewhere'>,
  child: ChildProcess | null,
): Attempt {
  const startedAt = child === null ? -Infinity : performance.now();
  return {
    ...{ ...which, child, startedAt, identity: null, command: null, stopped: false, paused: false, bereaved: false },
    ...{
      killedAt: null,
      seen: new Set<string>(),
      orphan: null,
      unreadSince: null,
      ending: null,
      endedAt: 0,
      trouble: null,
    },
  };
}

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
  /** While it stood still, its command was dead and its shim was not, when they were last looked at. */
  bereaved: boolean;
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

/**
 * The run's own process, which people see and may signal: the child of its shim. Null while there is none.
 *
 * @param census All processes, asked only where the kernel does not tell the children of one (`CONFIG_PROC_CHILDREN`).
 */
function commandProcess(shim: number, census: () => readonly ProcessEntry[]): ProcessIdentity | null {
  const child = childrenOf(shim)?.[0] ?? (canTellChildren ? undefined : foundAmong(census(), shim));
  return child === undefined ? null : identityOf(child);
}

/** Pids of the children of a process, oldest first, in 20 µs; null when it is gone or the kernel does not tell. */
function childrenOf(pid: number): number[] | null {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number).filter(Boolean);
  } catch {
    return null;
  }
}

const canTellChildren = childrenOf(process.pid) !== null;

function foundAmong(processes: readonly ProcessEntry[], shim: number): number | undefined {
  return processes.find(({ parent }) => parent === shim)?.pid;
}

/** Attempts that are looked at in one go: 60 µs for each process of theirs. */
const AT_ONCE = 20;
/** More of one run are not remembered: programs that start thousands of processes wait for them. */
const MOST = 1000;

type Member = { pid: number; seen: Set<string> };

/**
 * Remembers who descends from the shims of living attempts: a process that leaves its parents later, with nothing left on it
 * to tell where it comes from, is known all the same. One that is gone from its parents before anybody has looked is not.
 */
export class FamilyWatch {
  #next = 0;

  /** To be called every second or so: looks at some of the attempts, the next ones each time. */
  look(attempts: readonly Member[]): void {
    const count = Math.min(AT_ONCE, attempts.length);
    for (let turn = 0; turn < count; turn++) {
      this.#next = (this.#next + 1) % attempts.length;
      const { pid, seen } = attempts[this.#next]!;
      remember(pid, seen);
    }
  }
}

function remember(pid: number, seen: Set<string>): void {
  const waiting = childrenOf(pid) ?? [];
  for (let child = waiting.pop(); child !== undefined && seen.size < MOST; child = waiting.pop()) {
    const stat = readStat(child);
    if (stat === null) continue;
    seen.add(keyOf(stat));
    waiting.push(...(childrenOf(child) ?? []));
  }
}

/** Between looks at attempts whose command has not come up yet, ms. */
const NAMING_MS = 50;
/** Of them, so many are looked at in one go: 0.1 ms each. */
const NAMED_AT_ONCE = 50;

type NamingTools = {
  isWatched: (attempt: Attempt) => boolean;
  table: ProcessTable;
  /** The run's own process is known now. */
  named: (attempt: Attempt) => void;
};

/** Learns who the runs' own processes are. Most runs of a moment are over before anyone has asked. */
export class Naming {
  readonly #tools: NamingTools;
  /** Whose command is not known yet. */
  readonly #unnamed = new Set<Attempt>();
  #timer: NodeJS.Timeout | null = null;

  constructor(tools: NamingTools) {
    this.#tools = tools;
  }

  add(attempt: Attempt): void {
    this.#unnamed.add(attempt);
    this.#timer ??= setTimeout(() => this.#look(), NAMING_MS).unref();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #look(): void {
    const { isWatched, table, named } = this.#tools;
    this.#timer = null;
    for (const attempt of [...this.#unnamed].slice(0, NAMED_AT_ONCE)) {
      const isOnTheWay = isWatched(attempt) && attempt.ending === null && attempt.orphan === null;
      this.#unnamed.delete(attempt);
      if (isOnTheWay && !isNamed(attempt, () => table.inThisTurn())) {
        // To the end of the line.
        this.#unnamed.add(attempt);
        continue;
      }
      if (isOnTheWay) named(attempt);
    }
    if (this.#unnamed.size > 0) this.#timer = setTimeout(() => this.#look(), NAMING_MS).unref();
  }
}
