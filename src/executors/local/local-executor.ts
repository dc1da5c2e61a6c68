import type { Eventually } from '../../base/eventually.js';
import type { RunId } from '../../base/ids.js';
import { untilWholeSecond } from '../../base/lazy.js';
import type { AttemptPlace } from '../../files/run-directory/own-directory.js';
import { removeTerminal, terminalOf } from '../../files/run-directory/terminal-note.js';
import { descendantsOf } from '../../processes/proc-file.js';
import { isAlive } from '../../processes/process-identity.js';
import { ProcessTable } from '../../processes/process-table.js';
import { continueTrees, killTrees, pauseTrees, terminateTrees, type Tree } from '../../processes/process-tree.js';
import { inQuietTurn } from '../../processes/turn.js';
import { usableCores } from '../../processes/usable-cores.js';
import { attemptDirectory, endedAgo, giveUp, succeed } from '../attempt/attempt-files.js';
import { provenEnding } from '../attempt/ending.js';
import { startAttempt } from '../attempt/start-attempt.js';
import type {
  Ending,
  Executor,
  ExecutorListener,
  ExecutorResources,
  ExecutorSetting,
  Found,
  LaunchSpec,
  LeakedProcess,
  RunInput,
  Start,
  TakenOver,
} from '../executor.js';
import { attemptStateOf, livingOrphanedAttempt, unreachable } from './attempt-state.js';
import { type Attempt, FamilyWatch, isLed, Naming, newAttempt, treeOf } from './attempt.js';
import { type CgroupHome, OomWatch, openCgroupHome, release } from './cgroup-home.js';
import { EndWatch } from './end-watch.js';
import { startTerminalAttempt, typeIntoTerminal } from './run-terminal.js';
import { hasTypedInput, isReadingInput, lengthProblem, typeLine } from './standard-input.js';

/** A younger shim may not have started its command yet, and would swallow SIGTERM, ms. */
const YOUTH_MS = 250;

/** Descendants of attempts in cgroups are looked at every so many seconds. */
const HELD_EVERY = 5;

/**
 * Opens the executor. With `MEMRL_CGROUP=off` in the supervisor's environment runs get no cgroups. Neither do they in a job of
 * Slurm, whose cgroup they would leave.
 */
export function openLocalExecutor(
  { runsDirectory, environment, job }: ExecutorSetting,
  listener: ExecutorListener,
): Executor {
  const hasCgroups = environment['MEMRL_CGROUP'] !== 'off' && job === undefined;
  return new LocalExecutor(listener, hasCgroups ? openCgroupHome(runsDirectory) : null, new OomWatch(), job);
}

/** Starts, watches and ends runs on this machine. They live independently of it: a new executor adopts those of an old one. */
export class LocalExecutor implements Executor {
  readonly #attempts = new Map<RunId, Attempt>();
  readonly #listener: ExecutorListener;
  readonly #home: CgroupHome | null;
  readonly #oom: OomWatch;
  readonly #job: string | undefined;
  readonly #table = new ProcessTable();
  readonly #families = new FamilyWatch();
  readonly #orders = new Orders((attempt) => this.#isWatched(attempt));
  readonly #naming: Naming;
  readonly #ends: EndWatch;
  readonly #cores = usableCores();
  #checkTimer: NodeJS.Timeout | null = null;
  #checks = 0;
  #isClosed = false;

  /**
   * @param home Creates a cgroup for each attempt; null: processes are found by their marks.
   * @param job See `ExecutorSetting`.
   */
  constructor(listener: ExecutorListener, home: CgroupHome | null = null, oom = new OomWatch(), job?: string) {
    this.#listener = listener;
    this.#home = home;
    this.#oom = oom;
    this.#job = job;
    this.#naming = new Naming({
      isWatched: (attempt) => this.#isWatched(attempt),
      table: this.#table,
      named: ({ id }) => listener.changed(id),
    });
    this.#ends = new EndWatch({
      ...{ attempts: this.#attempts, table: this.#table, home, oom, listener },
      killAgain: (attempt) => this.#orders.give('kill', attempt),
      release: ({ id }) => this.continue(id),
      over: (...end) => this.#over(...end),
    });
  }

  /** A slot for each usable core, and the GPUs of this machine. */
  resources(): ExecutorResources {
    return { slots: this.#cores, gpus: 'placed' };
  }

  start(id: RunId, spec: LaunchSpec & { input?: 'lines' }): Start;
  start(id: RunId, spec: LaunchSpec): Eventually<Start>;
  start(id: RunId, spec: LaunchSpec): Eventually<Start> {
    const { directory, attempt: number, input = null } = spec;
    const cgroup = this.#home?.make(id, number) ?? null;
    if (input === 'terminal') return this.#startInTerminal(id, spec, cgroup);
    const start = startAttempt(spec, cgroup, this.#job);
    if (start.kind === 'refused') {
      if (cgroup !== null) this.#home?.remove(cgroup);
      return start;
    }
    const { child, pid } = start;
    const attempt = newAttempt({ id, number, directory, pid, cgroup, elsewhere: null, input }, child);
    this.#watch(attempt);
    child.once('exit', (code, signal) => {
      if (this.#isWatched(attempt)) this.#ends.shimGone(attempt, { pid, code, signal }, spec);
    });
    return { kind: 'started', pid };
  }

  async #startInTerminal(id: RunId, spec: LaunchSpec, cgroup: string | null): Promise<Start> {
    const { directory, attempt: number } = spec;
    const start = await startTerminalAttempt(spec, cgroup);
    if (start.kind === 'refused') {
      if (cgroup !== null) this.#home?.remove(cgroup);
      return start;
    }
    const { pid, identity } = start;
    if (identity === null) {
      setImmediate(() => !this.#isClosed && this.#listener.ended(id, number, { kind: 'not-claimed' }, []));
    } else if (!this.#isClosed) {
      const which = { id, number, directory, pid, cgroup, elsewhere: null, input: 'terminal' } as const;
      this.#watch({ ...newAttempt(which, null), identity });
      this.#ends.look();
    }
    return { kind: 'started', pid };
  }

  adopt(id: RunId, directory: string, number: number): Found {
    const found = attemptStateOf({ directory, number }, () => this.#table.inThisTurn());
    if (found.kind === 'withdrawn') return found;
    if (found.kind === 'elsewhere') return this.#adoptElsewhere({ id, directory, number }, found);
    const { identity, cgroup } = found;
    const pid = identity?.pid ?? 0;
    if (found.kind === 'ended') {
      release(cgroup, this.#home);
      const agoMs = endedAgo(attemptDirectory(directory, number));
      return { kind: 'ended', pid, ending: found.ending, ...(agoMs === null ? {} : { agoMs }) };
    }
    if (cgroup !== null) this.#home?.keep(cgroup);
    const input = inputOf({ directory, number });
    this.#watch({
      ...newAttempt({ id, number, directory, pid, cgroup, elsewhere: null, input }, null),
      identity,
    });
    this.#ends.look();
    return { kind: 'alive', pid };
  }

  orphanedAttemptOf(directory: string, attempt: number): number | null {
    return livingOrphanedAttempt(directory, attempt, () => this.#table.inThisTurn());
  }

  takeOver(id: RunId, directory: string, numbers: TakenOver): Found {
    succeed(directory, numbers);
    return this.adopt(id, directory, numbers.attempt);
  }

  type(id: RunId, line: string): Eventually<string | null> {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return 'is not up';
    if (attempt.elsewhere !== null) return `runs on ${attempt.elsewhere}, which cannot be reached from here`;
    const problem = lengthProblem(line);
    if (problem !== null) return problem;
    if (attempt.input === 'terminal') return typeIntoTerminal(attempt, line);
    const why = typeLine(attempt, line);
    if (why === null) this.#noteWaiting(attempt, false);
    return why;
  }

  awaitsInput(id: RunId): boolean {
    return this.#attempts.get(id)?.awaitsInput ?? false;
  }

  pidOf(id: RunId): number | null {
    return this.#attempts.get(id)?.command?.pid ?? null;
  }

  /** The pid of its shim, or of a process that outlived it. */
  rootOf(id: RunId): number | null {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined || attempt.elsewhere !== null) return null;
    return attempt.orphan?.survivors[0]?.pid ?? attempt.pid;
  }

  placeOf(): null {
    return null;
  }

  nodes(): null {
    return null;
  }

  terminate(id: RunId): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    attempt.stopped = true;
    const wait = attempt.startedAt + YOUTH_MS - performance.now();
    if (wait > 0) setTimeout(() => this.#orders.give('terminate', attempt), wait).unref();
    else this.#orders.give('terminate', attempt);
    this.#ends.look();
  }

  /** Kills a run. Survivors are reported with the ending, 5 s later. */
  kill(id: RunId): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    attempt.stopped = true;
    attempt.killedAt ??= performance.now();
    if (attempt.elsewhere !== null) return this.#lookElsewhere(attempt);
    this.#orders.give('kill', attempt);
    this.#ends.look();
  }

  pause(id: RunId): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    attempt.paused = true;
    this.#orders.give('pause', attempt);
  }

  continue(id: RunId): void {
    const attempt = this.#attempts.get(id);
    if (attempt === undefined) return;
    attempt.paused = false;
    this.#orders.give('continue', attempt);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#checkTimer !== null) clearTimeout(this.#checkTimer);
    this.#ends.close();
    this.#naming.close();
    this.#attempts.clear();
    this.#home?.close();
  }

  #watch(attempt: Attempt): void {
    this.#attempts.set(attempt.id, attempt);
    this.#checkTimer ??= setTimeout(() => this.#checkAttempts(), untilWholeSecond(performance.now())).unref();
    if (attempt.elsewhere === null) this.#naming.add(attempt);
  }

  #isWatched(attempt: Attempt): boolean {
    return this.#attempts.get(attempt.id) === attempt;
  }

  #adoptElsewhere(
    which: Pick<Attempt, 'id' | 'directory' | 'number'>,
    { pid, host }: { pid: number; host: string },
  ): Found {
    const trouble = `runs on ${host}, which cannot be reached from here`;
    this.#watch({ ...newAttempt({ ...which, pid, cgroup: null, elsewhere: host }, null), trouble });
    this.#listener.troubled(which.id, trouble);
    return { kind: 'elsewhere', pid, host };
  }

  #checkAttempts(): void {
    this.#checkTimer = null;
    this.#oom.look();
    this.#home?.tidy();
    for (const attempt of this.#attempts.values()) this.#checkOn(attempt);
    const isHeldDue = this.#checks++ % HELD_EVERY === 0;
    this.#families.look(
      [...this.#attempts.values()].filter((attempt) => isLed(attempt) && (attempt.cgroup === null || isHeldDue)),
    );
    if (this.#attempts.size > 0)
      this.#checkTimer = setTimeout(() => this.#checkAttempts(), untilWholeSecond(performance.now())).unref();
  }

  /** Rare changes, which are checked once a second. */
  #checkOn(attempt: Attempt): void {
    if (attempt.elsewhere !== null) this.#lookElsewhere(attempt);
    if (attempt.input === 'lines') this.#noteWaiting(attempt, isReadingInput(attempt, descendantsOf(attempt.pid)));
    if (attempt.trouble !== null) this.#listener.troubled(attempt.id, attempt.trouble);
    // A suspended shim cannot report that the command was killed.
    const isDead = attempt.paused && attempt.command !== null && !isAlive(attempt.command);
    // If the shim was killed as well, the rest stays suspended until a user acts. Of two processes that are killed together one may
    // be seen dead before the other, so a second look decides.
    const diedAlone = isDead && isLed(attempt) && isAlive(attempt.identity!);
    if (diedAlone && attempt.commandDied) this.continue(attempt.id);
    attempt.commandDied = diedAlone;
  }

  #noteWaiting(attempt: Attempt, awaitsInput: boolean): void {
    if (attempt.awaitsInput === awaitsInput) return;
    attempt.awaitsInput = awaitsInput;
    this.#listener.changed(attempt.id);
  }

  /** Checks whether an attempt elsewhere has reported its end; nothing else of it is visible. */
  #lookElsewhere(attempt: Attempt): void {
    const directory = attemptDirectory(attempt.directory, attempt.number);
    const ending = provenEnding(directory, null);
    if (ending !== null) return this.#over(attempt, ending, []);
    if (attempt.killedAt === null || !this.#listener.mayGiveUp(attempt.id)) return;
    const reason = unreachable(attempt.elsewhere!);
    giveUp(directory);
    this.#listener.troubled(attempt.id, `${reason}, and may still run`);
    attempt.trouble = null;
    this.#over(attempt, { kind: 'unknown', reason }, []);
  }

  #over(attempt: Attempt, ending: Ending, leaked: readonly LeakedProcess[]): void {
    if (!this.#isWatched(attempt)) return;
    this.#attempts.delete(attempt.id);
    if (attempt.input === 'terminal') removeTerminal(attempt);
    if (attempt.trouble !== null) this.#listener.troubled(attempt.id, null);
    this.#listener.ended(attempt.id, attempt.number, ending, leaked);
  }
}

/** What can be typed into an attempt, by the files of whoever started it; null: nothing. */
function inputOf(which: AttemptPlace): RunInput | null {
  if (hasTypedInput(which)) return 'lines';
  return terminalOf(which) === null ? null : 'terminal';
}

/** An order to the processes of an attempt. */
type Order = 'terminate' | 'kill' | 'pause' | 'continue';

const carryOut: Readonly<Record<Order, (trees: readonly Tree[]) => void>> = {
  terminate: terminateTrees,
  kill: killTrees,
  pause: pauseTrees,
  continue: continueTrees,
};

/** Carries out orders in sequence. Equal orders at the same time share the search for processes. */
export class Orders {
  readonly #isWatched: (attempt: Attempt) => boolean;
  #given: { order: Order; attempt: Attempt }[] = [];

  /** @param isWatched Whether an attempt is still watched: if it has ended, its pids may have been reused. */
  constructor(isWatched: (attempt: Attempt) => boolean) {
    this.#isWatched = isWatched;
  }

  give(order: Order, attempt: Attempt): void {
    // These pids belong to another machine or container.
    if (attempt.elsewhere !== null) return;
    if (this.#given.length === 0) inQuietTurn(() => this.#carryOut());
    this.#given.push({ order, attempt });
  }

  /** Carries out a sequence of equal orders together, one such sequence per turn. */
  #carryOut(): void {
    const given = this.#given.filter(({ attempt }) => this.#isWatched(attempt));
    const first = given[0]?.order;
    const end = given.findIndex(({ order }) => order !== first);
    const same = given.splice(0, end < 0 ? given.length : end);
    this.#given = given;
    if (given.length > 0) inQuietTurn(() => this.#carryOut());
    if (first !== undefined) carryOut[first](same.map(({ attempt }) => treeOf(attempt)));
  }
}
