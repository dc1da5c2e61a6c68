import type { RunId } from '../../base/ids.js';
import { untilWholeSecond } from '../../base/lazy.js';
import { oomKillsOf, removeCgroup } from '../../processes/cgroup.js';
import { isAlive } from '../../processes/process-identity.js';
import { type ProcessEntry, readProcesses } from '../../processes/process-table.js';
import {
  continueTrees,
  killTrees,
  pauseTrees,
  terminateTrees,
  type Tree,
  treeMembers,
} from '../../processes/process-tree.js';
import { attemptDirectory, exitObstacle, giveUp } from './attempt-files.js';
import { type Attempt, FamilyWatch, isNamed, isOver, newAttempt, treeOf } from './attempt.js';
import { type CgroupHome, OomWatch } from './cgroup-home.js';
import {
  type Ending,
  type EndingListener,
  explained,
  isSigkill,
  type LeakedProcess,
  provenEnding,
  type ShimStatus,
  unprovenEnding,
} from './ending.js';
import { hasOutlived, isBereft, isDue, isLed, lookAround, troubleOfOrphan } from './orphan.js';
import { type LaunchSpec, type Start, startAttempt } from './start-attempt.js';
import { type Found, livingOrphanedAttempt, unreachable, whereaboutsOf } from './whereabouts.js';

/** What else is told of attempts, and asked. */
export type Notices = {
  /** The run's own process is known now. */
  named: (id: RunId) => void;
  /** What a person should know of a run that goes on, in words; null: no more. The same may be said again. */
  troubled: (id: RunId, words: string | null) => void;
  /** Whether a run may be taken for ended though its processes cannot be reached: a person must have asked. */
  mayGiveUp: (id: RunId) => boolean;
};

const noNotices: Notices = { named: () => undefined, troubled: () => undefined, mayGiveUp: () => true };

/** An order to the processes of an attempt. Those of one moment share the search for them. */
type Verb = 'terminate' | 'kill' | 'pause' | 'continue';

/** Between looks at attempts whose command has not come up yet, ms. */
const NAMING_MS = 50;
/** Of them, so many are looked at in one go: 0.1 ms each. */
const NAMED_AT_ONCE = 50;
/** Between looks at attempts that cannot tell us of their end, ms. */
const LOOK_MS = 100;
/** A shim younger than this may not have started its command yet, and would swallow a polite signal, ms. */
const YOUTH_MS = 250;
/** An exit code that cannot be read is looked for again for so long before it is taken for lost, ms. */
const UNREAD_MS = 3000;
/** A run shorter than this is not worth a search for what it left behind, ms. */
const SHORT_MS = 5000;

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
  readonly #notices: Notices;
  readonly #families = new FamilyWatch();
  /** Whose command is not known yet. */
  readonly #unnamed = new Set<Attempt>();
  /** All processes, as read in this turn of the event loop. */
  #census: ProcessEntry[] | null = null;
  #naming: NodeJS.Timeout | null = null;
  #orders: { verb: Verb; attempt: Attempt }[] = [];
  #looking: NodeJS.Timeout | null = null;
  #lookingNow = false;
  #pulse: NodeJS.Timeout | null = null;

  /** @param home Where each attempt gets a cgroup of its own; null: nowhere, and processes are found by what they carry. */
  constructor(ended: EndingListener, home: CgroupHome | null = null, oom = new OomWatch(), notices = noNotices) {
    this.#ended = ended;
    this.#home = home;
    this.#oom = oom;
    this.#notices = notices;
  }

  start(id: RunId, order: LaunchSpec): Start {
    const { directory, attempt: number } = order;
    const cgroup = this.#home?.make(id, number) ?? null;
    const start = startAttempt(order, cgroup);
    if (start.kind === 'refused') {
      if (cgroup !== null) this.#home?.remove(cgroup);
      return start;
    }
    const { child, pid } = start;
    const attempt = newAttempt({ id, number, directory, pid, cgroup, elsewhere: null }, child);
    this.#watch(attempt);
    child.once('exit', (code, signal) => this.#shimGone(attempt, { code, signal }, order));
    return start;
  }

  /** Finds out what became of an attempt that this process did not start; see `Found`. */
  adopt(id: RunId, directory: string, number: number): Found {
    const found = whereaboutsOf({ directory, number }, () => this.#processes());
    if (found.kind === 'withdrawn') return found;
    if (found.kind === 'elsewhere') return this.#adoptElsewhere({ id, directory, number }, found);
    const { identity, cgroup } = found;
    const pid = identity?.pid ?? 0;
    const attempt = { ...newAttempt({ id, number, directory, pid, cgroup, elsewhere: null }, null), identity };
    if (found.kind === 'ended') {
      this.#isBare(attempt);
      return { kind: 'ended', pid, ending: found.ending };
    }
    this.#watch(attempt);
    this.#look();
    return { kind: 'alive', pid };
  }

  /** The number of an earlier attempt of the run in `directory` that goes on, or may; null: there is none. */
  orphanedAttemptOf(directory: string, attempt: number): number | null {
    return livingOrphanedAttempt(directory, attempt, () => this.#processes());
  }

  /** The run's own process; null while it is not there, or where it means nothing. */
  pidOf(id: RunId): number | null {
    return this.#attempts.get(id)?.command?.pid ?? null;
  }

  /** The process by which all others of the run are found: its shim, or one that outlived it. Null: none can be seen. */
  rootOf(id: RunId): number | null {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined || attempt.elsewhere !== null) return null;
    return attempt.orphan?.witnesses[0]?.pid ?? attempt.pid;
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
    if (attempt.elsewhere !== null) return this.#lookElsewhere(attempt);
    this.#order('kill', attempt);
    this.#look();
  }

  /** Makes the run and all it has started stand still, with all they hold. */
  pause(id: RunId): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    attempt.paused = true;
    this.#order('pause', attempt);
  }

  /** Lets a paused run go on, whoever paused it. */
  continue(id: RunId): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    attempt.paused = false;
    this.#order('continue', attempt);
  }

  /** Stops watching; the runs go on. */
  close(): void {
    if (this.#looking !== null) clearTimeout(this.#looking);
    if (this.#pulse !== null) clearTimeout(this.#pulse);
    if (this.#naming !== null) clearTimeout(this.#naming);
    this.#attempts.clear();
    this.#home?.close();
  }

  #watch(attempt: Attempt): void {
    this.#attempts.set(attempt.id, attempt);
    this.#pulse ??= setTimeout(() => this.#beat(), untilWholeSecond(performance.now())).unref();
    if (attempt.elsewhere !== null) return;
    this.#unnamed.add(attempt);
    this.#naming ??= setTimeout(() => this.#name(), NAMING_MS).unref();
  }

  #adoptElsewhere(
    which: Pick<Attempt, 'id' | 'directory' | 'number'>,
    { pid, host }: { pid: number; host: string },
  ): Found {
    const trouble = `runs on ${host}, out of reach from here`;
    this.#watch({ ...newAttempt({ ...which, pid, cgroup: null, elsewhere: host }, null), trouble });
    this.#notices.troubled(which.id, trouble);
    return { kind: 'elsewhere', pid, host };
  }

  /** Most runs of a moment are over before anyone has asked who they are. */
  #name(): void {
    this.#naming = null;
    for (const attempt of [...this.#unnamed].slice(0, NAMED_AT_ONCE)) {
      const isOnTheWay = this.#isWatched(attempt) && attempt.ending === null && attempt.orphan === null;
      this.#unnamed.delete(attempt);
      if (isOnTheWay && !isNamed(attempt, () => this.#processes())) {
        // To the end of the line.
        this.#unnamed.add(attempt);
        continue;
      }
      if (isOnTheWay) this.#notices.named(attempt.id);
    }
    if (this.#unnamed.size > 0) this.#naming = setTimeout(() => this.#name(), NAMING_MS).unref();
  }

  #beat(): void {
    this.#pulse = null;
    this.#oom.look();
    this.#home?.tidy();
    for (const attempt of this.#attempts.values()) this.#checkOn(attempt);
    this.#families.look([...this.#attempts.values()].filter(isLed));
    if (this.#attempts.size > 0)
      this.#pulse = setTimeout(() => this.#beat(), untilWholeSecond(performance.now())).unref();
  }

  /** What happens so rarely that once a second is enough. */
  #checkOn(attempt: Attempt): void {
    if (attempt.elsewhere !== null) this.#lookElsewhere(attempt);
    if (attempt.trouble !== null) this.#notices.troubled(attempt.id, attempt.trouble);
    // Its shim stands still, too, and cannot tell that the command was killed.
    const isDead = attempt.paused && attempt.command !== null && !isAlive(attempt.command);
    // Where the shim was killed with it, what is left stands still until a person says otherwise.
    if (isDead && isLed(attempt) && isAlive(attempt.identity!)) this.continue(attempt.id);
  }

  /** All that can be seen of it is whether it has told its end. */
  #lookElsewhere(attempt: Attempt): void {
    const directory = attemptDirectory(attempt.directory, attempt.number);
    const ending = provenEnding(directory, null);
    if (ending !== null) return this.#finish(attempt, ending, []);
    if (attempt.killedAt === null || !this.#notices.mayGiveUp(attempt.id)) return;
    const reason = unreachable(attempt.elsewhere!);
    giveUp(directory);
    this.#notices.troubled(attempt.id, `${reason}, and may still run`);
    attempt.trouble = null;
    this.#finish(attempt, { kind: 'unknown', reason }, []);
  }

  /** Those who ask in the same turn share a reading. */
  #processes(): ProcessEntry[] {
    return this.#census ?? this.#processesNow();
  }

  #processesNow(): ProcessEntry[] {
    if (this.#census === null) setImmediate(() => (this.#census = null));
    return (this.#census = readProcesses());
  }

  #order(verb: Verb, attempt: Attempt): void {
    // The same pids are others here.
    if (attempt.elsewhere !== null) return;
    if (this.#orders.length === 0) setImmediate(() => this.#carryOutOrders());
    this.#orders.push({ verb, attempt });
  }

  /** In the order in which they were given; equal ones in a row together, and one such row in a turn. */
  #carryOutOrders(): void {
    const orders = this.#orders.filter(({ attempt }) => this.#isWatched(attempt));
    const verb = orders[0]?.verb;
    const end = orders.findIndex((order) => order.verb !== verb);
    const same = orders.splice(0, end < 0 ? orders.length : end);
    this.#orders = orders;
    if (orders.length > 0) setImmediate(() => this.#carryOutOrders());
    if (verb !== undefined) carryOut[verb](same.map(({ attempt }) => treeOf(attempt)));
  }

  #isWatched(attempt: Attempt): boolean {
    return this.#attempts.get(attempt.id) === attempt;
  }

  /** @param order Of an attempt that was started here. */
  #shimGone(attempt: Attempt, status: ShimStatus, order: LaunchSpec | null): void {
    if (!this.#isWatched(attempt)) return;
    const ending = provenEnding(attemptDirectory(attempt.directory, attempt.number), status);
    if (ending !== null) return this.#shimEnded(attempt, order === null ? ending : explained(ending, order));
    attempt.orphan = { since: performance.now(), status, witnesses: [], outlived: false };
    this.#lookSoon();
  }

  #shimEnded(attempt: Attempt, ending: Ending): void {
    const wasPaused = attempt.paused;
    // What is left of it would stand still for ever.
    if (wasPaused) this.continue(attempt.id);
    attempt.ending = this.#withCause(attempt, ending);
    attempt.endedAt = performance.now();
    const isShort = attempt.endedAt - attempt.startedAt < SHORT_MS;
    this.#isBare(attempt);
    // One that had the time may have left its cgroup, too.
    if (!attempt.stopped && !wasPaused && isShort) this.#finish(attempt, attempt.ending, []);
    else this.#lookSoon();
  }

  /** SIGKILL comes from us, from a person, or from a kernel that has run out of memory. Wrappers pass it on as a code. */
  #withCause(attempt: Attempt, ending: Ending): Ending {
    const wasKilled = ending.kind === 'exited' ? ending.code === 137 : isSigkill(ending);
    if (!wasKilled || attempt.stopped) return ending;
    const isCounted = attempt.cgroup !== null && oomKillsOf(attempt.cgroup) > 0;
    if (!isCounted && !this.#oom.take()) return ending;
    return { kind: 'out-of-memory', reason: 'killed by the kernel: out of memory' };
  }

  /** Whether nothing is left of an attempt whose shim has ended, as its cgroup says; null without one. */
  #isBare({ cgroup }: Attempt): boolean | null {
    if (cgroup === null) return null;
    return this.#home?.remove(cgroup) ?? removeCgroup(cgroup);
  }

  #finish(attempt: Attempt, ending: Ending, survivors: readonly LeakedProcess[]): void {
    if (!this.#isWatched(attempt)) return;
    this.#attempts.delete(attempt.id);
    if (attempt.trouble !== null) this.#notices.troubled(attempt.id, null);
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
    const now = performance.now();
    for (const attempt of this.#attempts.values()) {
      if (attempt.child === null && isLed(attempt) && !isAlive(attempt.identity!)) this.#shimGone(attempt, null, null);
      if (isOrphaned(attempt, now)) this.#tellTrouble(attempt);
    }
    const due = [...this.#attempts.values()].filter(isDue);
    const processes = due.length > 0 ? this.#processesNow() : [];
    for (const attempt of due) this.#lookAt(attempt, treeMembers(processes, treeOf(attempt)), now);
    const needLooks = (attempt: Attempt) => attempt.child === null || attempt.orphan !== null || isDue(attempt);
    if ([...this.#attempts.values()].some(needLooks)) this.#look();
  }

  #lookAt(attempt: Attempt, left: readonly ProcessEntry[], now: number): void {
    if (attempt.orphan !== null && attempt.ending === null) this.#lookAtOrphan(attempt, left);
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

  #lookAtOrphan(attempt: Attempt, left: readonly ProcessEntry[]): void {
    const { status, outlived } = attempt.orphan!;
    lookAround(attempt, left);
    if (!isBereft(attempt.orphan!)) return outlived ? this.#tellTrouble(attempt) : undefined;
    const directory = attemptDirectory(attempt.directory, attempt.number);
    // A shim that is adopted may have told its end since.
    const proven = provenEnding(directory, status);
    if (proven === null && this.#mayYetBeRead(attempt, directory)) return;
    attempt.ending = this.#withCause(attempt, proven ?? unprovenEnding(directory, status, outlived));
    attempt.endedAt = performance.now();
  }

  /** A disk or a file server that fails for a moment must not cost a run its end. */
  #mayYetBeRead(attempt: Attempt, directory: string): boolean {
    const obstacle = exitObstacle(directory);
    attempt.unreadSince ??= performance.now();
    if (obstacle === null || performance.now() - attempt.unreadSince > UNREAD_MS) return false;
    this.#tellTrouble(attempt, `it has ended, and its exit code is looked for again: ${obstacle}`);
    return true;
  }

  #tellTrouble(attempt: Attempt, words = troubleOfOrphan(attempt)): void {
    if (words === attempt.trouble) return;
    attempt.trouble = words;
    this.#notices.troubled(attempt.id, words);
    this.#notices.named(attempt.id);
  }
}

/** Whether others of it live on without its shim. */
function isOrphaned({ orphan, unreadSince }: Attempt, now: number): boolean {
  return orphan !== null && hasOutlived(orphan, now) && unreadSince === null;
}
