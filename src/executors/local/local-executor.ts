import type { ChildProcess } from 'node:child_process';
import type { RunId } from '../../base/ids.js';
import { runFiles } from '../../contract/files.js';
import { obstacleOf } from '../../files/regular-file.js';
import {
  attemptDirectory,
  attemptObstacle,
  isFromEarlierBoot,
  obstacleWords,
  readClaim,
  withdraw,
} from './attempt-files.js';
import { type Attempt, isOver, treeOf } from './attempt.js';
import { oomKillsOf, removeCgroup } from './cgroup.js';
import type { CgroupHome } from './cgroup-home.js';
import { type Ending, endingOf } from './ending.js';
import { OomWatch } from './oom-watch.js';
import { identityOf, isAlive } from './process-identity.js';
import { type ProcessEntry, readProcesses } from './process-table.js';
import { type AttemptOrder, problemOf, type Start, startAttempt } from './start-attempt.js';
import { continueTrees, killTrees, pauseTrees, terminateTrees, type Tree, treeMembers } from './tree.js';

/** A process that was still there when the end of its run was told. */
export type Survivor = { pid: number; name: string };

/**
 * Told once for every attempt that was started or adopted here.
 *
 * `survivors`: of a run that was killed, what SIGKILL could not end; of a run that ended by itself, what it left behind,
 * which is not touched. They may hold GPU memory. Empty: none, or the run took less than 5 s and nobody looked.
 */
export type EndingListener = (id: RunId, attempt: number, ending: Ending, survivors: readonly Survivor[]) => void;

/** What became of an attempt that an earlier supervisor meant to start. */
export type Found =
  /** It lives, and is watched from now on. */
  | { kind: 'alive'; pid: number }
  | { kind: 'ended'; pid: number; ending: Ending }
  /** It had not begun, and now never will. `neverRan`: even if it was thought to be up. `reason`: why nothing more is known. */
  | { kind: 'withdrawn'; neverRan: boolean; reason?: string };

/** An order to the processes of an attempt. Those of one moment share the search for them. */
type Verb = 'terminate' | 'kill' | 'pause' | 'continue';

/** Between looks at attempts that cannot tell us of their end, ms. */
const LOOK_MS = 100;
/** A shim younger than this may not have started its command yet, and would swallow a polite signal, ms. */
const YOUTH_MS = 250;
/** A run shorter than this is not worth a search for what it left behind, ms. */
const SHORT_MS = 5000;
/** Between readings of what concerns all runs, ms. One costs 0.05 ms. */
const PULSE_MS = 1000;

const carryOut: Readonly<Record<Verb, (trees: readonly Tree[]) => void>> = {
  terminate: terminateTrees,
  kill: killTrees,
  pause: pauseTrees,
  continue: continueTrees,
};

/** Starts, watches and ends runs on this machine. They do not need it to live: a new one adopts what an old one started. */
export class LocalExecutor {
  readonly #attempts = new Map<RunId, Attempt>();
  readonly #ended: EndingListener;
  readonly #home: CgroupHome | null;
  readonly #oom: OomWatch;
  #orders: { verb: Verb; attempt: Attempt }[] = [];
  #processes: readonly ProcessEntry[] | null = null;
  #looking: NodeJS.Timeout | null = null;
  #lookingNow = false;
  #pulse: NodeJS.Timeout | null = null;

  /** @param home Where each attempt gets a cgroup of its own; null: nowhere, and processes are found by what they carry. */
  constructor(ended: EndingListener, home: CgroupHome | null = null, oom = new OomWatch()) {
    this.#ended = ended;
    this.#home = home;
    this.#oom = oom;
  }

  start(id: RunId, order: AttemptOrder): Start {
    const { directory, attempt: number } = order;
    const cgroup = this.#home?.make(id, number) ?? null;
    const start = startAttempt(order, cgroup);
    if (start.kind === 'refused') {
      if (cgroup !== null) this.#home?.remove(cgroup);
      return start;
    }
    const { child, pid } = start;
    const attempt = newAttempt({ id, number, directory, pid, cgroup }, child);
    this.#watch(attempt);
    child.once('exit', (code, signal) => {
      const ending = endingOf(attemptDirectory(directory, number), { code, signal });
      this.#shimEnded(attempt, explained(ending, order));
    });
    return start;
  }

  /** Finds out what became of an attempt that this process did not start; see `Found`. */
  adopt(id: RunId, directory: string, number: number): Found {
    const folder = attemptDirectory(directory, number);
    const obstacle = attemptObstacle(folder);
    if (obstacle !== null) return this.#adoptObstructed({ id, directory, number }, obstacle);
    const claim = readClaim(folder);
    switch (claim.kind) {
      case 'none':
        return this.#adoptUnclaimed({ id, directory, number });
      case 'withdrawn':
        return { kind: 'withdrawn', neverRan: false };
      case 'unreadable':
        return this.#adoptUnreadable(id, directory, number);
      case 'begun':
        return this.#adoptBegun({ id, directory, number }, claim);
    }
  }

  /** Asks the run, and all it has started, to end. It may take its time. A paused one goes on for that. */
  terminate(id: RunId): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    attempt.stopped = true;
    const wait = attempt.startedAt + YOUTH_MS - performance.now();
    if (wait > 0) setTimeout(() => this.#order('terminate', attempt), wait).unref();
    else this.#order('terminate', attempt);
    this.#look();
  }

  /** Ends the run and all it has started, paused or not. What survives is told with the ending, 5 s later. */
  kill(id: RunId): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    attempt.stopped = true;
    attempt.killedAt ??= performance.now();
    this.#order('kill', attempt);
    this.#look();
  }

  /** Makes the run and all it has started stand still, with all they hold. */
  pause(id: RunId): void {
    const attempt = this.#attempts.get(id);
    if (attempt !== undefined) this.#order('pause', attempt);
  }

  /** Lets a paused run go on, whoever paused it. */
  continue(id: RunId): void {
    const attempt = this.#attempts.get(id);
    if (attempt !== undefined) this.#order('continue', attempt);
  }

  /** Stops watching; the runs go on. */
  close(): void {
    if (this.#looking !== null) clearTimeout(this.#looking);
    if (this.#pulse !== null) clearTimeout(this.#pulse);
    this.#attempts.clear();
    this.#home?.close();
  }

  #watch(attempt: Attempt): void {
    this.#attempts.set(attempt.id, attempt);
    this.#pulse ??= setTimeout(() => this.#beat(), PULSE_MS).unref();
  }

  #beat(): void {
    this.#pulse = null;
    this.#oom.look();
    this.#home?.tidy();
    if (this.#attempts.size > 0) this.#pulse = setTimeout(() => this.#beat(), PULSE_MS).unref();
  }

  /** What was up had made its file: whoever took it away may have taken more. */
  #adoptUnclaimed(which: Pick<Attempt, 'id' | 'directory' | 'number'>): Found {
    const { id, directory, number } = which;
    const folder = attemptDirectory(directory, number);
    try {
      if (withdraw(folder)) return { kind: 'withdrawn', neverRan: false };
    } catch (error) {
      const obstacle = obstacleOf(error);
      const reason = obstacle.kind === 'unreadable' ? obstacle.reason : 'it is gone';
      return this.#adoptObstructed(which, `${runFiles.attempts}/${number} cannot be written: ${reason}`);
    }
    if (readClaim(folder).kind !== 'none') return this.adopt(id, directory, number);
    return this.#adoptObstructed(which, obstacleWords(folder, 'it is a link that leads nowhere'));
  }

  /**
   * Its files do not say who it is. Its processes carry its mark, so if there are any it goes on as the first of them. If there
   * are none, none will come: its shim has the mark, too.
   */
  #adoptObstructed(which: Pick<Attempt, 'id' | 'directory' | 'number'>, reason: string): Found {
    const first = this.#census()
      .filter((entry) => entry.pid !== process.pid && entry.mark() === which.directory)
      .sort((a, b) => Number(a.startTime) - Number(b.startTime) || a.pid - b.pid)[0];
    const identity = first === undefined ? null : identityOf(first.pid);
    if (identity !== null) return this.#adoptBegun(which, { identity, cgroup: null });
    const ending = endingOf(attemptDirectory(which.directory, which.number), null);
    if (ending.kind !== 'unknown') return { kind: 'ended', pid: 0, ending };
    return { kind: 'withdrawn', neverRan: false, reason };
  }

  /** All processes, read once for whoever asks in this turn: a disk that is gone takes the files of many attempts with it. */
  #census(): readonly ProcessEntry[] {
    if (this.#processes === null) setImmediate(() => (this.#processes = null));
    return (this.#processes ??= readProcesses());
  }

  #adoptBegun(
    which: Pick<Attempt, 'id' | 'directory' | 'number'>,
    { identity, cgroup }: Pick<Attempt, 'cgroup'> & { identity: NonNullable<Attempt['identity']> },
  ): Found {
    const { pid } = identity;
    const attempt = { ...newAttempt({ ...which, pid, cgroup }, null), identity };
    if (!isAlive(identity)) {
      this.#isBare(attempt);
      return { kind: 'ended', pid, ending: endingOf(attemptDirectory(which.directory, which.number), null) };
    }
    this.#watch(attempt);
    this.#look();
    return { kind: 'alive', pid };
  }

  /**
   * The file is there, its line is not. The shim runs the command only after the whole line is written, so unless the
   * shim is at it this very moment, the command has never run and never will.
   */
  #adoptUnreadable(id: RunId, directory: string, number: number): Found {
    if (isFromEarlierBoot(attemptDirectory(directory, number))) {
      const reason = 'the machine stopped just as it was started';
      return { kind: 'ended', pid: 0, ending: { kind: 'unknown', reason } };
    }
    const isBeingWritten = readProcesses().some((entry) => entry.mark() === directory);
    if (!isBeingWritten) return { kind: 'withdrawn', neverRan: true };
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return this.adopt(id, directory, number);
  }

  #order(verb: Verb, attempt: Attempt): void {
    if (this.#orders.length === 0) setImmediate(() => this.#carryOutOrders());
    this.#orders.push({ verb, attempt });
  }

  /** In the order in which they were given; equal ones in a row together. */
  #carryOutOrders(): void {
    const orders = this.#orders.filter(({ attempt }) => this.#isWatched(attempt));
    this.#orders = [];
    while (orders.length > 0) {
      const { verb } = orders[0]!;
      const end = orders.findIndex((order) => order.verb !== verb);
      const same = orders.splice(0, end < 0 ? orders.length : end);
      carryOut[verb](same.map(({ attempt }) => treeOf(attempt)));
    }
  }

  #isWatched(attempt: Attempt): boolean {
    return this.#attempts.get(attempt.id) === attempt;
  }

  #shimEnded(attempt: Attempt, ending: Ending): void {
    attempt.ending = this.#withCause(attempt, ending);
    attempt.endedAt = performance.now();
    const isShort = attempt.endedAt - attempt.startedAt < SHORT_MS;
    if (!attempt.stopped && (this.#isBare(attempt) === true || isShort)) this.#finish(attempt, attempt.ending, []);
    else this.#lookSoon();
  }

  /** SIGKILL comes from us, from a person, or from a kernel that has run out of memory. */
  #withCause(attempt: Attempt, ending: Ending): Ending {
    if (ending.kind !== 'signalled' || ending.signal !== 'SIGKILL' || attempt.stopped) return ending;
    const isCounted = attempt.cgroup !== null && oomKillsOf(attempt.cgroup) > 0;
    if (!isCounted && !this.#oom.take()) return ending;
    return { kind: 'out-of-memory', reason: 'killed by the kernel: out of memory' };
  }

  /** Whether nothing is left of an attempt whose shim has ended, as its cgroup says; null without one. */
  #isBare({ cgroup }: Attempt): boolean | null {
    if (cgroup === null) return null;
    return this.#home?.remove(cgroup) ?? removeCgroup(cgroup);
  }

  #finish(attempt: Attempt, ending: Ending, survivors: readonly Survivor[]): void {
    if (!this.#isWatched(attempt)) return;
    this.#attempts.delete(attempt.id);
    this.#ended(attempt.id, attempt.number, ending, survivors);
  }

  /** Ends of one moment share one look. */
  #lookSoon(): void {
    if (this.#lookingNow) return;
    this.#lookingNow = true;
    setImmediate(() => {
      this.#lookingNow = false;
      this.#lookNow();
    });
  }

  #look(): void {
    if (this.#looking !== null) return;
    // A thousand adopted runs cost 30 ms a look, so the looks get rarer with them.
    const wait = Math.max(LOOK_MS, this.#attempts.size);
    this.#looking = setTimeout(() => {
      this.#looking = null;
      this.#lookNow();
    }, wait).unref();
  }

  #lookNow(): void {
    this.#lookAtAdopted();
    const leaving = [...this.#attempts.values()].filter(({ ending, killedAt }) => ending !== null || killedAt !== null);
    const processes = leaving.length > 0 ? readProcesses() : [];
    const now = performance.now();
    for (const attempt of leaving) this.#lookAt(attempt, treeMembers(processes, treeOf(attempt)), now);
    const needLooks = ({ child, ending, killedAt }: Attempt) => child === null || ending !== null || killedAt !== null;
    if ([...this.#attempts.values()].some(needLooks)) this.#look();
  }

  #lookAtAdopted(): void {
    for (const attempt of this.#attempts.values()) {
      if (attempt.child === null && attempt.ending === null && !isAlive(attempt.identity!)) {
        this.#shimEnded(attempt, endingOf(attemptDirectory(attempt.directory, attempt.number), null));
      }
    }
  }

  #lookAt(attempt: Attempt, left: readonly ProcessEntry[], now: number): void {
    if (isOver(attempt, left.length, now)) {
      this.#isBare(attempt);
      const ending = attempt.ending ?? { kind: 'signalled', signal: 'SIGKILL' };
      const survivors = left.map(({ pid, name }) => ({ pid, name }));
      this.#finish(attempt, ending, survivors);
    } else if (attempt.killedAt !== null && left.length > 0) {
      // What came up while the rest was being killed.
      this.#order('kill', attempt);
    }
  }
}

function newAttempt(
  which: Pick<Attempt, 'id' | 'number' | 'directory' | 'pid' | 'cgroup'>,
  child: ChildProcess | null,
): Attempt {
  const startedAt = child === null ? -Infinity : performance.now();
  return { ...which, child, startedAt, identity: null, stopped: false, killedAt: null, ending: null, endedAt: 0 };
}

/**
 * The shell says 127 or 126 for a command that it cannot find or execute; we say why. Only then: to look for every command
 * beforehand would take a fifth of the time of a short run.
 */
function explained(ending: Ending, order: AttemptOrder): Ending {
  if (ending.kind !== 'exited' || (ending.code !== 127 && ending.code !== 126)) return ending;
  const reason = problemOf(order);
  return reason === null ? ending : { kind: 'not-begun', reason };
}
