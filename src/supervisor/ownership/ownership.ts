import { hostname } from 'node:os';
import type { RunId } from '../../base/ids.js';
import { nothingWritten, type WrittenFiles } from '../../contract/written-files.js';
import type { Executor } from '../../executors/executor.js';
import { readWrittenFiles, writeWrittenFiles } from '../../files/run-directory/supervisor-notes.js';
import { activityOf } from '../../processes/proc-file.js';
import { isMetricsName, writerIn } from '../../metrics/metrics-file.js';
import { passTurn } from '../../processes/turn.js';
import type { Run, SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { PlannedRuns } from '../runs/submission-store.js';
import type { Warnings } from '../runs/warnings.js';
import { FileBook, writtenFiles } from './file-book.js';
import { FollowedRuns, type Followed } from './followed-runs.js';
import { NamedPaths, SharedFolders } from './named-paths.js';
import { OpenFiles, runsAtWork } from './open-files.js';
import { EARLY_MS } from './owner-of-file.js';
import { Place, seenFile } from './place.js';

type OwnershipTools = {
  state: Pick<SchedulerState, 'runs' | 'sweeps'>;
  plannedRuns: Pick<PlannedRuns, 'of'>;
  executor: Pick<Executor, 'rootOf'>;
  warnings: Pick<Warnings, 'set'>;
  log: (line: string) => void;
  /** By the scheduler's clock, ms. */
  now: () => number;
};

/** Share of a core's time that this work may take, with few runs, and with many. */
const shares = { few: 0.02, many: 0.005 };
const FEW_RUNS = 16;
/** Delay between the end of a run and a look at its files, unless that happens at once, ms. */
const SOON_MS = 300;
/** Longest pause between two looks, ms: if runs are only up, and if one has ended, whose curves a user may wait for. */
const longest = { up: 60_000, ended: 5000 };
/** Time for which records of past runs are read at once, ms. */
const AT_ONCE_MS = 20;
/** Number of past runs whose records are read together. */
const PAST_AT_ONCE = 64;

/**
 * Finds out which files outside their directories runs write, so that each run has its own curves and none of another; the result
 * is in `written.json` of each run, which only this class writes and every reader of metrics reads.
 *
 * It looks a few times in the first seconds of a run, then less and less often, and once after its end: which files its processes
 * have open, and what was created or changed below the folders it works in. `ownerOf` draws the conclusions.
 */
export class Ownership {
  readonly #tools: OwnershipTools;
  readonly #book = new FileBook();
  readonly #open = new OpenFiles();
  readonly #runs = new FollowedRuns();
  readonly #places = new Map<string, Place>();
  /** Named paths by sweep, with its number of runs at that time. */
  readonly #named = new Map<string, { size: number; paths: NamedPaths }>();
  readonly #shared: SharedFolders;
  /** The run of each process that was seen. */
  readonly #writers = new Map<number, RunId>();
  readonly #written = new Map<RunId, WrittenFiles>();
  /** Files that were seen open at this look, and the run that has them open. */
  readonly #met = new Map<string, RunId>();
  /** What the processes of a run had written before they were examined. */
  readonly #activity = new Map<RunId, string | null>();
  readonly #past: PlannedRun[] = [];
  #pastMs = 0;
  readonly #wereUp = new Set<RunId>();
  #timer: NodeJS.Timeout | null = null;
  /** When the timer is due, by `performance.now()`. */
  #lookAt = Infinity;
  #isLooking = false;
  #isClosed = false;
  /** Earliest time of the next look, by `performance.now()`. */
  #notBefore = 0;

  constructor(tools: OwnershipTools) {
    this.#tools = tools;
    this.#shared = new SharedFolders(tools);
  }

  /** Records that an attempt is up since `since`, by the scheduler's clock; the first attempt of its run since `first`. */
  started(run: PlannedRun, attempt: number, times: { since: number; first: number }): void {
    this.#load(run);
    const [from, since] = [this.#fileTime(times.since), this.#fileTime(times.first)];
    this.#runs.start(run, { id: run.id, attempt, since, from, to: null }, this.#shared.of(run));
    this.#record(run);
    this.#later();
  }

  /** Records the end of a run. Its files are examined now if that is quick; else soon. */
  ended(run: PlannedRun, at: number): void {
    const followed = this.#runs.end(run.id, this.#fileTime(at));
    if (followed === null) return;
    const isQuick = !this.#isLooking && performance.now() >= this.#notBefore;
    if (!isQuick || this.#named.get(run.sweep)?.size !== this.#sizeOf(run.sweep)) return this.#later();
    const begun = activeMs();
    this.#lookAtOnce([followed]);
    this.#spent(begun);
  }

  #lookAtOnce(runs: readonly Followed[]): void {
    for (const steps = this.#survey(new Set(runs.map(({ root }) => root))); steps.next().done !== true;);
    this.#conclude(runs);
  }

  /** Records the runs that were up under the last supervisor: their files since then have not been examined. */
  wereUp(ids: Iterable<RunId>): void {
    for (const id of ids) this.#wereUp.add(id);
  }

  /** Adds a run that ended before this supervisor started. */
  recall({ id, attempt, past }: Run, planned: PlannedRun): void {
    const [first, last] = [past[0], past.at(-1)];
    if (first === undefined || last === undefined || !this.#wereUp.delete(id)) this.#remember(planned);
    else {
      this.started(planned, attempt, { since: last[0], first: first[0] });
      this.#runs.end(id, this.#fileTime(last[1]));
    }
    this.#later();
  }

  /** Reads the record of a past run, at once while that is quick: there may be ten thousand of them. */
  #remember(run: PlannedRun): void {
    if (this.#pastMs > AT_ONCE_MS) return void this.#past.push(run);
    const begun = performance.now();
    this.#loadPast(run);
    this.#pastMs += performance.now() - begun;
  }

  /** Forgets a run whose directory is deleted. */
  forget(id: RunId): void {
    this.#runs.forget(id);
    this.#book.forget(id);
    this.#open.forget(id);
    this.#activity.delete(id);
    this.#written.delete(id);
  }

  /** Whether the files of all ended runs have been examined. */
  get isQuiet(): boolean {
    return !this.#runs.hasEnded;
  }

  /** Examines the files of runs that have just ended, as nobody will later. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (!this.#isLooking) this.#lookAtOnce(this.#runs.ended());
    this.#isClosed = true;
  }

  /** Schedules the next look. */
  #later(): void {
    if (this.#isLooking || this.#isClosed) return;
    const now = performance.now();
    const hasNews = this.#past.length > 0 || this.#runs.hasEnded;
    const rest = Math.min(this.#notBefore - now, this.#runs.hasEnded ? longest.ended : longest.up);
    const at = now + Math.max(hasNews ? SOON_MS : this.#runs.nextLook - now, rest, 0);
    if (at >= this.#lookAt || at === Infinity) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#lookAt = at;
    this.#timer = setTimeout(() => void this.#lookNow(), at - now).unref();
  }

  async #lookNow(): Promise<void> {
    this.#timer = null;
    this.#lookAt = Infinity;
    this.#isLooking = true;
    try {
      await this.#look();
    } catch (error) {
      this.#tools.log(`what runs write could not be looked at: ${String(error)}`);
      // The supervisor exits when nothing is left to be examined.
      for (const { run } of this.#runs.ended()) this.#runs.forget(run.id);
    }
    this.#isLooking = false;
    this.#later();
  }

  async #look(): Promise<void> {
    const begun = activeMs();
    await this.#readPast();
    const due = this.#runs.due();
    if (this.#areAtRest(due)) {
      for (const { run } of due) this.#runs.lookedAt(run.id, false);
      return this.#spent(begun);
    }
    await this.#sample(due.filter(({ isUp }) => isUp));
    await this.#nameAll(due);
    for (
      const steps = this.#survey(new Set(due.map(({ root }) => root)));
      !this.#isClosed && steps.next().done !== true;
    )
      await passTurn();
    if (this.#isClosed) return;
    this.#conclude(due);
    this.#spent(begun);
  }

  /** Whether these runs, which are few, have done nothing since the last look at them, so that it would show the same. */
  #areAtRest(runs: readonly Followed[]): boolean {
    if (runs.length > FEW_RUNS) return false;
    const { executor } = this.#tools;
    const atRest = runs.map((followed) => {
      const { id } = followed.run;
      const root = executor.rootOf(id);
      const [before, now] = [this.#activity.get(id), root === null ? null : activityOf(root)];
      this.#activity.set(id, now);
      return now !== null && now === before && !this.#runs.needsLook(followed);
    });
    return atRest.every(Boolean);
  }

  /** Determines which files of metrics live runs have open, and in which folders they keep others. */
  async #sample(runs: readonly Followed[]): Promise<void> {
    const { executor } = this.#tools;
    const local = runs.filter(({ run }) => executor.rootOf(run.id) !== null);
    if (local.length === 0) return;
    const roots = new Map(local.map(({ run: { directory }, root }) => [directory, root]));
    const isOutside = (path: string, directory: string) =>
      !path.startsWith(`${directory}/`) && (isMetricsName(path) || path.startsWith(`${roots.get(directory)}/`));
    const atWork = await runsAtWork(new Set(roots.keys()), isOutside);
    for (const { run } of local) {
      const { pids, files } = atWork.get(run.directory) ?? { pids: [], files: [] };
      for (const pid of pids) this.#writers.set(pid, run.id);
      for (const path of files) {
        this.#open.note(run.id, path);
        const seen = isMetricsName(path) ? seenFile(path) : null;
        if (seen === null) continue;
        this.#book.opened(run.id, seen);
        this.#met.set(path, run.id);
      }
    }
  }

  async #nameAll(runs: readonly Followed[]): Promise<void> {
    for (const sweep of new Set(runs.map(({ run }) => run.sweep))) {
      const size = this.#sizeOf(sweep);
      if (this.#named.get(sweep)?.size === size) continue;
      const ids = [...(this.#tools.state.sweeps.get(sweep) ?? [])];
      const planned = ids.flatMap((id) => this.#tools.plannedRuns.of(id) ?? []);
      this.#named.set(sweep, { size, paths: await NamedPaths.of(planned) });
    }
  }

  #sizeOf(sweep: string): number {
    return this.#tools.state.sweeps.get(sweep)?.size ?? 0;
  }

  /** Searches these folders in steps, and determines the owners of the files. */
  *#survey(roots: ReadonlySet<string>): Generator<void> {
    this.#book.turnOver();
    for (const root of roots) {
      const place = this.#places.get(root) ?? new Place(root);
      this.#places.set(root, place);
      for (const seen of place.look(this.#namedIn(root), this.#runs.oldest - EARLY_MS)) {
        if (seen !== null && this.#book.note(seen)) this.#decide(seen.path);
        yield;
      }
    }
    for (const path of this.#met.keys()) {
      this.#decide(path);
      yield;
    }
  }

  /** Folders and files outside this working directory that one of its runs alone names, or that they share by their sweep file. */
  #namedIn(root: string): string[] {
    const there = this.#runs.in(root);
    const named = there.flatMap(({ run }) => this.#named.get(run.sweep)?.paths.onlyIn(run) ?? []);
    return [...new Set([...named, ...there.flatMap(({ shared }) => shared)])].sort();
  }

  #decide(path: string): void {
    const above = this.#runs.livesAbove(path);
    const there = new Set(above.map(({ id }) => id));
    const [writer, named] = [this.#writerOf(path), this.#namedRun(path)];
    const known = [...this.#book.openersOf(path), ...(named === null ? [] : [named])];
    const all = writer === null || writer === 'other' ? known : [...known, writer];
    const others = new Set(all.filter((id) => !there.has(id)));
    this.#book.decide(path, {
      ...{ writer, named },
      lives: [...above, ...[...others].flatMap((id) => this.#runs.livesOf(id))],
      inFolderOf: this.#open.ownerOf(path, [...there], this.#runs.roots),
      withTheirOwn: this.#open.holdersBeside(path, [...there]),
      attemptOf: (id) => this.#runs.livesOf(id).at(-1)?.attempt ?? 0,
    });
  }

  #writerOf(path: string): RunId | 'other' | null {
    const writer = writerIn(path);
    // A pid of another machine or container is meaningless here, as is any if no process can be seen.
    if (writer?.host !== hostname()) return null;
    return this.#writers.get(writer.pid) ?? (this.#writers.size === 0 ? null : 'other');
  }

  /** The only run of all sweeps whose argument names the file. */
  #namedRun(path: string): RunId | null {
    const found = new Set([...this.#named.values()].flatMap(({ paths }) => paths.leadingTo(path) ?? []));
    return found.size === 1 ? [...found][0]! : null;
  }

  /** Writes the changes of all runs, and drops runs that have ended. */
  #conclude(looked: readonly Followed[]): void {
    const waiting = new Set([...this.#met].flatMap(([path, id]) => (this.#book.isWaiting(path) ? [id] : [])));
    this.#met.clear();
    for (const { run } of looked) this.#runs.lookedAt(run.id, waiting.has(run.id));
    // A file that is not read may have more curves than before.
    const doubted = looked.flatMap(({ run: { id } }) => ((this.#written.get(id)?.refused.length ?? 0) > 0 ? [id] : []));
    for (const id of new Set([...this.#book.takeChanged(), ...doubted])) {
      const run = this.#tools.plannedRuns.of(id);
      if (run !== null) this.#record(run);
    }
    for (const id of this.#runs.takeLeft()) {
      this.#open.forget(id);
      this.#activity.delete(id);
    }
    if (this.#runs.size > 0) return;
    this.#book.tidy();
    for (const known of [this.#places, this.#named, this.#writers]) known.clear();
  }

  #record(run: PlannedRun): void {
    const before = this.#written.get(run.id) ?? nothingWritten;
    const now = writtenFiles(run, this.#book.filesOf(run.id), this.#shared.of(run));
    this.#tools.warnings.set(run.id, 'files', now.warning, now.curves);
    if (JSON.stringify(now) === JSON.stringify(before)) return;
    this.#written.set(run.id, now);
    try {
      writeWrittenFiles(run.directory, now);
    } catch (error) {
      // The disk is full: the next change writes this one too.
      this.#written.delete(run.id);
      this.#tools.log(`${run.id}: what it writes elsewhere could not be written down: ${(error as Error).message}`);
    }
  }

  /** Loads what an earlier supervisor found of the run. */
  #load(run: PlannedRun): void {
    if (this.#written.has(run.id)) return;
    const written = readWrittenFiles(run.directory);
    if (written === null) return;
    this.#written.set(run.id, written);
    this.#book.load(run.id, written);
    this.#tools.warnings.set(run.id, 'files', written.warning, written.curves);
  }

  /** Reads past runs, whose known files no other run may get; files of old runs that shared a folder belong to none. */
  async #readPast(): Promise<void> {
    for (let run = this.#past.pop(); run !== undefined && !this.#isClosed; run = this.#past.pop()) {
      this.#loadPast(run);
      if (this.#past.length % PAST_AT_ONCE === 0) await passTurn();
    }
  }

  #loadPast(run: PlannedRun): void {
    this.#load(run);
    if (run.metrics.folders !== undefined) this.#record(run);
  }

  /** @param begun Active time of the event loop at the start. */
  #spent(begun: number): void {
    const share = this.#runs.size <= FEW_RUNS ? shares.few : shares.many;
    this.#notBefore = performance.now() + (activeMs() - begun) / share;
  }

  /** Converts a time of the scheduler's clock to that of file times. Unix ms. */
  #fileTime(at: number): number {
    return at + Date.now() - this.#tools.now();
  }
}

function activeMs(): number {
  return performance.eventLoopUtilization().active;
}
