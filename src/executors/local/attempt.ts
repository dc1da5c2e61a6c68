import type { ChildProcess } from 'node:child_process';
import type { RunId } from '../../base/ids.js';
import { childrenOf, descendantsOf } from '../../processes/proc-file.js';
import { bootId, identityOf, isAlive, type ProcessIdentity, readStat } from '../../processes/process-identity.js';
import { type ProcessEntry, type ProcessTable, readProcess } from '../../processes/process-table.js';
import { keyOf, type Tree } from '../../processes/process-tree.js';
import { attemptDirectory, readClaim } from '../attempt/attempt-files.js';
import type { ShimStatus } from '../attempt/ending.js';
import type { Ending, RunInput } from '../executor.js';

export function newAttempt(
  which: Pick<Attempt, 'id' | 'number' | 'directory' | 'pid' | 'cgroup' | 'elsewhere'> & { input?: RunInput | null },
  child: ChildProcess | null,
): Attempt {
  const startedAt = child === null ? -Infinity : performance.now();
  return {
    ...{
      input: null,
      ...which,
      child,
      startedAt,
      identity: null,
      command: null,
      stopped: false,
      paused: false,
      commandDied: false,
    },
    ...{
      killedAt: null,
      seen: new Set<string>(),
      orphan: null,
      unreadSince: null,
      ending: null,
      endedAt: 0,
      trouble: null,
      awaitsInput: false,
    },
  };
}

/** An attempt that was started or adopted here, until its end has been reported. Times: `performance.now()`. */
export type Attempt = {
  readonly id: RunId;
  readonly number: number;
  readonly directory: string;
  readonly pid: number;
  /** Far in the past for an attempt that an earlier supervisor started. */
  readonly startedAt: number;
  /** Null for an attempt that an earlier supervisor started, whose end this process is not notified of. */
  readonly child: ChildProcess | null;
  /** The machine or container that it began in, if its processes are not visible here; null: they are. */
  readonly elsewhere: string | null;
  /** The input that a user can type into; null when there is none. */
  readonly input: RunInput | null;
  /** Whether it waited for a line at the last check. */
  awaitsInput: boolean;
  /** Known at once for an adopted attempt, else read from the shim's file when needed. */
  identity: ProcessIdentity | null;
  /** The run's own process; null: unknown (yet). */
  command: ProcessIdentity | null;
  /** Processes that were seen to descend from its shim, by `keyOf`. */
  readonly seen: Set<string>;
  /** Its cgroup, which its shim may not have entered yet; null: none. */
  readonly cgroup: string | null;
  /** Whether it was told to end: then it has ended when its whole tree is gone. */
  stopped: boolean;
  /** Whether this supervisor has suspended it. */
  paused: boolean;
  /** Whether the last check during a pause found its command dead but its shim alive. */
  commandDied: boolean;
  /** When SIGKILL was sent to all its processes. */
  killedAt: number | null;
  /** Set if its shim died without reporting an end. */
  orphan: Orphan | null;
  /** Since when none of its processes lives though its end is unknown; null: one does, or the end is known. */
  unreadSince: number | null;
  /** How and when it ended, while other processes of its tree live. */
  ending: Ending | null;
  endedAt: number;
  /** A warning about the live attempt, in words. */
  trouble: string | null;
};

/**
 * The state of an attempt whose shim died without reporting an end. The run continues while any of its processes lives, though its exit code
 * will remain unknown. Searching for them reads all processes, so known ones are checked first.
 */
type Orphan = {
  since: number;
  /** How the shim died. */
  status: ShimStatus;
  /** Processes of the attempt that were alive at the last search. */
  survivors: readonly ProcessIdentity[];
  /** Whether one of them has lived so long after the shim that they were not killed together. */
  outlived: boolean;
};

/** Limit on the time that processes which survive SIGKILL (on a dead disk, or of another user) hold the slot, ms. */
const UNKILLABLE_MS = 5000;
/** Time for helper processes of an ended program to exit by themselves, ms. */
const HELPER_EXIT_MS = 500;

/** All processes of the attempt, as a tree to signal. */
export function treeOf(attempt: Attempt): Tree {
  const { pid, directory, child } = attempt;
  attempt.identity ??= claimingShim(attempt);
  // A shim that is not identified yet, but is our own living child, whose pid cannot have been reused.
  const isOurs = attempt.identity === null && child?.exitCode === null && child.signalCode === null;
  const startTime = isOurs ? identityOf(pid)?.startTime : attempt.identity?.startTime;
  return { pid, startTime: startTime ?? null, directory, cgroup: attempt.cgroup, seen: attempt.seen };
}

/** The shim of an attempt that was started here, once it has claimed that; null before, or if the claim names another process. */
function claimingShim({ pid, directory, number }: Attempt): ProcessIdentity | null {
  const claim = readClaim(attemptDirectory(directory, number));
  return claim.kind === 'begun' && claim.identity.pid === pid ? claim.identity : null;
}

/** Determines the run's own process; returns whether it is known. Takes about 50 µs until it is, and no time after. */
function isNamed(attempt: Attempt, listProcesses: () => readonly ProcessEntry[]): boolean {
  if (attempt.command !== null) return true;
  const { startTime } = treeOf(attempt);
  if (startTime === null) return false;
  attempt.identity ??= { pid: attempt.pid, startTime, bootId: bootId() };
  attempt.command = isAlive(attempt.identity) ? commandProcess(attempt.pid, listProcesses) : null;
  return attempt.command !== null;
}

type Standing = Pick<Attempt, 'ending' | 'endedAt' | 'stopped' | 'killedAt'>;

/** Whether the end of an attempt can be reported, with so many living processes left of it. */
export function isOver({ ending, endedAt, stopped, killedAt }: Standing, left: number, now: number): boolean {
  if (left === 0) return ending !== null;
  if (killedAt !== null) return now - killedAt > UNKILLABLE_MS;
  return ending !== null && !stopped && now - endedAt > HELPER_EXIT_MS;
}

/**
 * The run's own process, which users see and may signal: the child of its shim. Null: there is none.
 *
 * @param listProcesses Returns all processes; called only if the kernel does not list children (`CONFIG_PROC_CHILDREN`).
 */
function commandProcess(shim: number, listProcesses: () => readonly ProcessEntry[]): ProcessIdentity | null {
  const child = childrenOf(shim)?.[0] ?? (canTellChildren ? undefined : foundAmong(listProcesses(), shim));
  return child === undefined ? null : identityOf(child);
}

const canTellChildren = childrenOf(process.pid) !== null;

function foundAmong(processes: readonly ProcessEntry[], shim: number): number | undefined {
  return processes.find(({ parent }) => parent === shim)?.pid;
}

/** Number of attempts examined at once: 60 µs for each process of theirs. */
const AT_ONCE = 20;
/** Limit on the remembered processes of a run; programs that start thousands wait for them. */
const MOST = 1000;

type Member = { pid: number; seen: Set<string> };

/**
 * Remembers the descendants of living attempts' shims, so that a process which detaches later without any trace of its origin is
 * still known. One that detaches before the first look is not.
 */
export class FamilyWatch {
  #next = 0;

  /** Looks at some of the attempts, the next ones each time; call it about every second. */
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
  for (const child of descendantsOf(pid)) {
    if (seen.size >= MOST) return;
    const stat = readStat(child);
    if (stat !== null) seen.add(keyOf(stat));
  }
}

/** Interval of looks at attempts whose command has not started yet, ms. */
const NAMING_MS = 50;
/** Number of them examined at once: 0.1 ms each. */
const NAMED_AT_ONCE = 50;

type NamingTools = {
  isWatched: (attempt: Attempt) => boolean;
  table: ProcessTable;
  /** Called when the run's own process becomes known. */
  named: (attempt: Attempt) => void;
};

/** Determines the runs' own processes. Most very short runs end before. */
export class Naming {
  readonly #tools: NamingTools;
  /** Attempts whose command is unknown. */
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
        // Moves to the end of the line.
        this.#unnamed.add(attempt);
        continue;
      }
      if (isOnTheWay) named(attempt);
    }
    if (this.#unnamed.size > 0) this.#timer = setTimeout(() => this.#look(), NAMING_MS).unref();
  }
}

/** Whether it continues with its shim, as far as known. */
export function isLed({ elsewhere, ending, orphan }: Attempt): boolean {
  return elsewhere === null && ending === null && orphan === null;
}

/** Whether its processes have to be searched for. */
export function isDue({ elsewhere, ending, killedAt, orphan }: Attempt): boolean {
  if (elsewhere !== null) return false;
  return ending !== null || killedAt !== null || (orphan !== null && isGone(orphan));
}

/** Processes that a kill of the whole group ends may be visible for this long after the shim, ms. */
const TOGETHER_MS = 80;
/** Number of processes that are checked for life. */
const CHECKED_SURVIVORS = 3;

/** Whether none of the known processes lives, so that others have to be searched for. */
export function isGone({ survivors }: Orphan): boolean {
  return !survivors.some(isAlive);
}

/** Records the living members of its tree, without leftovers of earlier attempts. */
export function lookAround(attempt: Attempt, members: readonly ProcessEntry[]): void {
  const { pid, startTime } = treeOf(attempt);
  const own = members.filter((entry) => startTime === null || Number(entry.startTime) >= Number(startTime));
  const oldestFirst = own.toSorted((a, b) => Number(a.startTime) - Number(b.startTime) || a.pid - b.pid);
  attempt.orphan!.survivors = oldestFirst.map((entry) => ({
    pid: entry.pid,
    startTime: entry.startTime,
    bootId: bootId(),
  }));
  if (attempt.command !== null && isAlive(attempt.command)) return;
  const heir = oldestFirst.find(({ session }) => session === pid) ?? oldestFirst[0];
  attempt.command = attempt.orphan!.survivors.find((survivor) => survivor.pid === heir?.pid) ?? null;
}

/** Whether a process has lived for so long after the shim that they did not die together. */
export function hasOutlived(orphan: Orphan, now: number): boolean {
  if (!orphan.outlived && now - orphan.since > TOGETHER_MS && !isGone(orphan)) orphan.outlived = true;
  return orphan.outlived;
}

/** The warning about it. */
export function troubleOfOrphan({ orphan, paused }: Attempt): string {
  const words = 'its parent process was killed from outside; its exit code will not be known';
  const left = (orphan?.survivors ?? []).slice(0, CHECKED_SURVIVORS).flatMap((survivor) => {
    const entry = readProcess(survivor.pid);
    return entry?.startTime === survivor.startTime ? [entry] : [];
  });
  const still = left.filter(({ state }) => paused || state === 'T').map(({ pid, name }) => `${name} (pid ${pid})`);
  if (still.length === 0) return words;
  return `${words}; still paused: ${still.join(', ')}; continue or kill it`;
}
