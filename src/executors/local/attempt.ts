import type { ChildProcess } from 'node:child_process';
import { closeSync, realpathSync } from 'node:fs';
import type { RunId } from '../../base/ids.js';
import { childrenOf, descendantsOf } from '../../processes/proc-file.js';
import {
  bootId,
  hostIdentity,
  identityOf,
  isAlive,
  type ProcessIdentity,
  readStat,
} from '../../processes/process-identity.js';
import type { ProcessEntry, ProcessTable } from '../../processes/process-table.js';
import { keyOf, type Tree } from '../../processes/process-tree.js';
import { startDetached } from '../../processes/started-program.js';
import { attemptDirectory, readClaim } from '../attempt/attempt-files.js';
import { placeWord } from '../attempt/claim-text.js';
import { problemOf } from '../attempt/command-problem.js';
import type { ShimStatus } from '../attempt/ending.js';
import { carried } from '../attempt/environment-carrier.js';
import {
  codeOf,
  niceProgram,
  openedLog,
  type Refusal,
  refusal,
  reopenedLog,
  say,
} from '../attempt/prepared-attempt.js';
import { SHIM } from '../attempt/shim.js';
import type { Ending, LaunchSpec, RunInput, Start } from '../executor.js';
import { startInTerminal } from './run-terminal.js';

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

/** The state of an attempt whose shim has died. */
export type Orphan = {
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

/** `child`: the shim. */
type ShimStart = Extract<Start, { kind: 'started' }> & { child: ChildProcess };

/** Read at startup, while files can be opened, as a missing part would make it a different place. */
const place = placeWord(hostIdentity());

/**
 * Starts the shim in a session of its own, writing directly to `output.log`, so that neither the end of the terminal nor that of
 * the supervisor affects it. Returns at once. A failure is in `reason` and, if possible, in the log.
 *
 * @param cgroup The attempt's cgroup for the shim to enter; null: none.
 * @param job See `ExecutorSetting`.
 */
export function startAttempt(spec: LaunchSpec, cgroup: string | null, job?: string): ShimStart | Refusal {
  const opened = job === undefined ? openedLog(spec) : reopenedLog(spec);
  if (opened.kind === 'refused') return opened;
  const { log } = opened;
  try {
    const start = launch(spec, log, { cgroup: cgroup ?? '', place: job === undefined ? place : `${place} job ${job}` });
    // Transient failures are not logged, as the start is tried many times.
    if (start.kind === 'refused' && !start.transient) say(log, `memrl-tui: ${start.reason}\n`);
    return start;
  } finally {
    closeSync(log);
  }
}

/** Arguments of the shim beside the command. */
type ShimSetting = { cgroup: string; place: string };

/**
 * Starts the shim in a terminal of its own instead. @param cgroup As in `startAttempt`.
 */
export async function startTerminalAttempt(spec: LaunchSpec, cgroup: string | null) {
  const opened = openedLog(spec);
  if (opened.kind === 'refused') return opened;
  closeSync(opened.log);
  try {
    return await startInTerminal(spec, ['/bin/sh', ...shimArguments(spec, { cgroup: cgroup ?? '', place })]);
  } catch (error) {
    return refusal(error, 'could not be started');
  }
}

function shimArguments(spec: LaunchSpec, setting: ShimSetting): string[] {
  const { directory, attempt, argv, environment, nice, input } = spec;
  return [
    '-c',
    SHIM,
    'memrl-shim',
    // Without links: at its end the shim compares it, to notice whether another directory has replaced its own.
    realpathSync.native(attemptDirectory(directory, attempt)),
    setting.cgroup,
    setting.place,
    input === 'lines' ? input : '',
    ...(nice === undefined ? [] : [niceProgram(), '-n', String(nice)]),
    ...carried(argv, environment),
  ];
}

function launch(spec: LaunchSpec, log: number, setting: ShimSetting): ShimStart | Refusal {
  const { cwd, environment } = spec;
  const args = shimArguments(spec, setting);
  try {
    const child = startDetached('/bin/sh', args, { cwd, env: environment, output: log });
    if (child.pid !== undefined) return { kind: 'started', child, pid: child.pid };
    const reason = problemOf(spec);
    // Node reports the reason only later. The shim itself is always executable, so if the folder is accessible, it is a shortage.
    if (reason !== null) return { kind: 'refused', reason, transient: false };
    return { kind: 'refused', reason: 'the machine is out of processes or open files', transient: true };
  } catch (error) {
    const tooBig = 'arguments and environment are too long for the system';
    if (codeOf(error) === 'E2BIG') return { kind: 'refused', reason: tooBig, transient: false };
    return refusal(error, 'could not be started');
  }
}
