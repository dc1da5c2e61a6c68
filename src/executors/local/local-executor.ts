import type { ChildProcess } from 'node:child_process';
import type { RunId } from '../../base/ids.js';
import { attemptDirectory, isFromEarlierBoot, readClaim, withdraw } from './attempt-files.js';
import { type Ending, endingOf } from './ending.js';
import { identityOf, isAlive, type ProcessIdentity } from './process-identity.js';
import { readProcesses } from './process-table.js';
import { type AttemptOrder, problemOf, type Start, startAttempt } from './start-attempt.js';
import { killTrees, terminateGroup, type Tree, treeMembers } from './tree.js';

/** Told once for every attempt that was started or adopted here. `at`: Unix ms. */
export type EndingListener = (id: RunId, attempt: number, ending: Ending) => void;

/** What became of an attempt that an earlier supervisor meant to start. */
export type Found =
  /** It lives, and is watched from now on. */
  | { kind: 'alive'; pid: number }
  | { kind: 'ended'; pid: number; ending: Ending }
  /** It had not begun, and now never will. */
  | { kind: 'withdrawn' };

type Attempt = {
  readonly id: RunId;
  readonly number: number;
  readonly directory: string;
  readonly pid: number;
  readonly startedAt: number;
  /** Null for one that an earlier supervisor started: nobody will tell us of its end. */
  readonly child: ChildProcess | null;
  /** Known at once for an adopted attempt, else from the shim's file when it is needed. */
  identity: ProcessIdentity | null;
  /** Someone asked it to end: it has ended when its whole tree is gone. */
  stopped: boolean;
  /** How its shim ended, while others of its tree live on. */
  ending: Ending | null;
};

/** Between looks at attempts that cannot tell us of their end, ms. */
const LOOK_MS = 100;
/** A shim younger than this may not have started its command yet, and would swallow a polite signal, ms. */
const YOUTH_MS = 250;

/** Starts, watches and ends runs on this machine. They do not need it to live: a new one adopts what an old one started. */
export class LocalExecutor {
  readonly #attempts = new Map<RunId, Attempt>();
  readonly #ended: EndingListener;
  readonly #toKill = new Set<Attempt>();
  #looking: NodeJS.Timeout | null = null;
  #lookingNow = false;

  constructor(ended: EndingListener) {
    this.#ended = ended;
  }

  start(id: RunId, order: AttemptOrder): Start {
    const start = startAttempt(order);
    if (start.kind === 'refused') return start;
    const { child, pid } = start;
    const { directory, attempt: number } = order;
    const fresh = { identity: null, stopped: false, ending: null, startedAt: performance.now() };
    const attempt: Attempt = { id, number, directory, pid, child, ...fresh };
    this.#attempts.set(id, attempt);
    child.once('exit', (code, signal) => {
      const ending = endingOf(attemptDirectory(directory, number), { code, signal });
      this.#shimEnded(attempt, explained(ending, order));
    });
    return start;
  }

  /** Finds out what became of an attempt that this process did not start; see `Found`. Throws if its directory is unwritable. */
  adopt(id: RunId, directory: string, number: number): Found {
    const folder = attemptDirectory(directory, number);
    const claim = readClaim(folder);
    switch (claim.kind) {
      case 'none':
        return withdraw(folder) ? { kind: 'withdrawn' } : this.adopt(id, directory, number);
      case 'withdrawn':
        return { kind: 'withdrawn' };
      case 'unreadable':
        return this.#adoptUnreadable(id, directory, number);
      case 'begun':
        return this.#adoptBegun({ id, directory, number }, claim.identity);
    }
  }

  /** Asks the run to end. It may take its time. */
  terminate(id: RunId): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    attempt.stopped = true;
    const wait = attempt.startedAt + YOUTH_MS - performance.now();
    if (wait > 0) setTimeout(() => this.#terminate(attempt), wait).unref();
    else this.#terminate(attempt);
    this.#look();
  }

  /** Ends the run and all it has started. Requests of one moment share the search. */
  kill(id: RunId): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    attempt.stopped = true;
    if (this.#toKill.size === 0) setImmediate(() => this.#killAsked());
    this.#toKill.add(attempt);
    this.#look();
  }

  /** Stops watching; the runs go on. */
  close(): void {
    if (this.#looking !== null) clearTimeout(this.#looking);
    this.#attempts.clear();
  }

  #adoptBegun(which: Pick<Attempt, 'id' | 'directory' | 'number'>, identity: ProcessIdentity): Found {
    const { pid } = identity;
    if (!isAlive(identity)) {
      return { kind: 'ended', pid, ending: endingOf(attemptDirectory(which.directory, which.number), null) };
    }
    const old = { child: null, stopped: false, ending: null, startedAt: -Infinity };
    this.#attempts.set(which.id, { ...which, pid, identity, ...old });
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
    if (!isBeingWritten) return { kind: 'withdrawn' };
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return this.adopt(id, directory, number);
  }

  #terminate(attempt: Attempt): void {
    // The pid of a child that has not been reaped cannot have gone to someone else.
    const isOurs = attempt.child === null ? isAlive(attempt.identity!) : attempt.child.exitCode === null;
    if (isOurs && attempt.ending === null && this.#attempts.get(attempt.id) === attempt) terminateGroup(attempt.pid);
  }

  #killAsked(): void {
    const attempts = [...this.#toKill];
    this.#toKill.clear();
    killTrees(attempts.map((attempt) => treeOf(attempt)));
  }

  #shimEnded(attempt: Attempt, ending: Ending): void {
    attempt.ending = ending;
    if (!attempt.stopped) this.#finish(attempt, ending);
    else this.#lookSoon();
  }

  #finish(attempt: Attempt, ending: Ending): void {
    if (this.#attempts.get(attempt.id) !== attempt) return;
    this.#attempts.delete(attempt.id);
    this.#ended(attempt.id, attempt.number, ending);
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
    for (const attempt of this.#attempts.values()) {
      if (attempt.child === null && attempt.ending === null && !isAlive(attempt.identity!)) {
        this.#shimEnded(attempt, endingOf(attemptDirectory(attempt.directory, attempt.number), null));
      }
    }
    const left = [...this.#attempts.values()].filter(({ ending }) => ending !== null);
    const processes = left.length > 0 ? readProcesses() : [];
    for (const attempt of left) {
      if (treeMembers(processes, treeOf(attempt)).length === 0) this.#finish(attempt, attempt.ending!);
    }
    if ([...this.#attempts.values()].some(({ child, ending }) => child === null || ending !== null)) this.#look();
  }
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

function treeOf(attempt: Attempt): Tree {
  const { pid, directory, number, child } = attempt;
  if (attempt.identity === null) {
    const claim = readClaim(attemptDirectory(directory, number));
    if (claim.kind === 'begun') attempt.identity = claim.identity;
  }
  // Not identified yet, but our own living child: no one else has its pid.
  const isOurs = attempt.identity === null && child?.exitCode === null;
  const startTime = isOurs ? identityOf(pid)?.startTime : attempt.identity?.startTime;
  return { pid, startTime: startTime ?? null, directory };
}
