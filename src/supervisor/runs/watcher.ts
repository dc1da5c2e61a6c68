import type { FSWatcher } from 'chokidar';
import type { Ending } from '../../analysis/health/ending.js';
import type { RunId } from '../../base/ids.js';
import { untilWholeSecond } from '../../base/lazy.js';
import { statRegular } from '../../files/regular-file.js';
import type { PartRead } from '../../metrics/run-metrics.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { ObjectiveValues } from '../../spec/search/trials.js';
import { type MonitoredMetrics, nothingMonitored } from '../publish/run-view.js';
import { EarlyStops, ObjectiveBook, Targets } from './early-stops.js';
import { type MetricsCallbacks, MetricsMonitor } from './metrics-monitor.js';
import { type Reading, ReadingQueue } from './reading-queue.js';

/** Told of what the metrics say. */
export type WatchListener = {
  changed: (id: RunId) => void;
  /** Fewer ended runs are `unread`. */
  recalled: () => void;
  ruleMet: (id: RunId, attempt: number, rule: string) => void;
  /** The first run of a group is good enough; how, in words. */
  targetReached: (run: PlannedRun, words: string) => void;
  /** What of the run's metrics cannot be read, in words; null: nothing any more. */
  hindered: (id: RunId, words: string | null) => void;
  now: () => number;
};

type Watch = Reading & {
  run: PlannedRun;
  attempt: number;
  monitor: MetricsMonitor;
  /** Called once when all that was written so far has been read. */
  caughtUp: (() => void) | null;
  /** What was last said of what could not be read. */
  hindrance: string | null;
  /** Whether the system reports changes of its files; `wanted`: as soon as there is one. */
  reports: 'not yet' | 'wanted' | 'on';
  /** Whether it was looked at since the last poll because the system reported a change. */
  isFresh: boolean;
  /** Something was read that has not been told, and when something last was. */
  hasNews: boolean;
  toldAt: number;
};

/** Between looks at a file that the system reports as changed, ms. */
const LOOK_MS = 100;
/** Runs younger than this are polled only, ms. */
const YOUTH_MS = 300;
/** So many live runs are followed by what the system reports, and looked at ten times a second. Each report costs half a ms, all threads counted. */
const REPORTED_RUNS = 16;
/** Of its time, a core may be busy with what live runs write for so long: where they are many, they are polled more seldom. */
const POLLING_SHARE = 0.03;
/** But not more seldom than this, ms. */
const LONGEST_PAUSE_MS = 5000;
/** Finished runs whose metrics are being read side by side. */
const PAST_AT_ONCE = 8;
/**
 * The end of a run waits so long for its last rows to be read, ms: some 100 MB. It holds its slot meanwhile, and one that wrote
 * more in its last second is not worth the wait of others. The rest of its rows is still read, after its end.
 */
const CATCH_UP_MS = 2000;
/** While a long file is being read, what it said so far is told this often, ms. */
const NEWS_MS = 500;

/** Keeps up with the metrics of all live runs, and remembers what those of ended runs said last. */
export class Watcher {
  readonly #listener: WatchListener;
  readonly #live = new Map<RunId, Watch>();
  readonly #byPath = new Map<string, Watch>();
  readonly #vitals = new Map<RunId, MonitoredMetrics>();
  /** Of ended runs of which all has been read. */
  readonly #endings = new Map<RunId, Ending>();
  readonly #due = new Set<Watch>();
  readonly #queue: ReadingQueue;
  /** Ended runs whose last rows are still being read. */
  readonly #finishing = new Map<RunId, Watch>();
  /** Those whose end waits for them, though they had not been followed yet. */
  readonly #early = new Map<RunId, Watch>();
  /** From `#pastAt` on, they have not been begun with. */
  readonly #past: PlannedRun[] = [];
  #pastAt = 0;
  #isRecalling = false;
  readonly #recalling = new Map<RunId, Watch>();
  readonly #earlyStops = new EarlyStops();
  readonly #targets = new Targets();
  readonly #objectives = new ObjectiveBook();
  readonly #bornAt: number;
  /** For how long live runs were read since the last poll, ms. */
  #spentMs = 0;
  #reported = 0;
  #look: NodeJS.Timeout | null = null;
  #poll: NodeJS.Timeout | null = null;
  #files: Promise<FSWatcher> | null = null;
  #isClosed = false;

  constructor(listener: WatchListener, queue = new ReadingQueue()) {
    this.#listener = listener;
    this.#queue = queue;
    this.#bornAt = listener.now();
  }

  vitals(id: RunId): MonitoredMetrics {
    return this.#vitals.get(id) ?? nothingMonitored;
  }

  /** How the judged metric of an ended run ended; null: it is not known, or the run has none. */
  endingOf(id: RunId): Ending | null {
    return this.#endings.get(id) ?? null;
  }

  /** What follows the live run of this attempt, once all that it had written is read; null: nothing does, or it is behind. */
  monitorOf(id: RunId, attempt: number): MetricsMonitor | null {
    const watch = this.#live.get(id);
    return watch?.attempt === attempt && watch.monitor.isUpToDate ? watch.monitor : null;
  }

  /** What the run has written of its objective; null: nothing, or it has none. */
  objectiveOf(id: RunId): ObjectiveValues | null {
    return this.#objectives.of(id);
  }

  /** Of how many ended runs something is left to be read. */
  get unread(): number {
    return this.#unrecalled + this.#finishing.size;
  }

  /** Of how many runs that `recall` was asked for something is left to be read. */
  get #unrecalled(): number {
    return this.#past.length - this.#pastAt + this.#recalling.size;
  }

  /** Begins to follow an attempt that is up since `since`. */
  watch(run: PlannedRun, attempt: number, since: number): void {
    this.#letGo(run.id);
    this.#endings.delete(run.id);
    const early = this.#early.get(run.id);
    const watch = early?.attempt === attempt ? early : this.#watchOf(run, attempt, since);
    this.#live.set(run.id, watch);
    for (const path of watch.monitor.paths) this.#byPath.set(path, watch);
    this.#soon(watch);
    this.#pollSoon();
    // Half of the cost of a run that lasts a moment would be to be watched.
    setTimeout(() => void this.#watchFiles(watch), YOUTH_MS).unref();
  }

  /**
   * Reads what the run has written so far, and then calls back: at once if that is little, and after `CATCH_UP_MS` at the
   * latest. To be called where the end of a run lets others start. One that lasted a moment may not be followed yet.
   */
  catchUp(run: PlannedRun, attempt: number, caughtUp: () => void): void {
    let watch = this.#live.get(run.id);
    if (watch === undefined) {
      watch = this.#watchOf(run, attempt, this.#listener.now());
      this.#early.set(run.id, watch);
    }
    this.#waitFor(watch, caughtUp);
  }

  /** The attempt has ended: reads its last rows, at once or in the background, and lets go of it. */
  finish(run: PlannedRun): void {
    const watch = this.#live.get(run.id);
    if (watch === undefined) return;
    this.#live.delete(run.id);
    for (const path of watch.monitor.paths) this.#byPath.delete(path);
    this.#due.delete(watch);
    if (watch.reports === 'on') this.#reported -= 1;
    this.#finishing.set(run.id, watch);
    watch.monitor.look();
    this.#read(watch);
    void this.#files?.then((files) => files.unwatch(watch.monitor.paths));
    if (this.#live.size > 0 || this.#poll === null) return;
    clearTimeout(this.#poll);
    this.#poll = null;
  }

  /** Reads, in the background, what runs said that ended before this supervisor was there. */
  recall(runs: readonly PlannedRun[]): void {
    for (const run of runs) this.#past.push(run);
    if (runs.length === 0 || this.#isRecalling) return;
    this.#isRecalling = true;
    setImmediate(() => this.#recallMore());
  }

  /** The run is no longer known; another one may come under its name. */
  forget(id: RunId): void {
    this.#letGo(id);
    this.#vitals.delete(id);
    this.#endings.delete(id);
    this.#earlyStops.forget(id);
    this.#objectives.forget(id);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#past.length = this.#pastAt = 0;
    this.#recalling.clear();
    this.#queue.close();
    if (this.#look !== null) clearTimeout(this.#look);
    if (this.#poll !== null) clearTimeout(this.#poll);
    await (await this.#files)?.close();
  }

  #watchOf(run: PlannedRun, attempt: number, since: number): Watch {
    const history = attempt > 1 || since < this.#bornAt;
    const monitor = new MetricsMonitor(run, since, this.#callbacksOf(run), history);
    const watch: Watch = {
      ...{ run, attempt, monitor, caughtUp: null, hindrance: null, reports: 'not yet', isFresh: false },
      ...{ hasNews: false, toldAt: this.#listener.now() },
      readPart: (maxBytes) => {
        const begun = this.#listener.now();
        const part = this.#readPart(watch, maxBytes);
        if (this.#live.get(run.id) === watch) this.#spentMs += this.#listener.now() - begun;
        return part;
      },
    };
    return watch;
  }

  #waitFor(watch: Watch, caughtUp: () => void): void {
    const timer = setTimeout(() => {
      watch.caughtUp?.();
      // The rest waits like that of others.
      this.#read(watch);
    }, CATCH_UP_MS).unref();
    watch.monitor.look();
    watch.caughtUp = () => {
      clearTimeout(timer);
      watch.caughtUp = null;
      if (!this.#isClosed) caughtUp();
    };
    this.#read(watch);
  }

  /** What an attempt before wrote is not read on: the file is read again from its start. */
  #letGo(id: RunId): void {
    for (const watches of [this.#finishing, this.#recalling]) {
      const watch = watches.get(id);
      if (watch === undefined) continue;
      this.#queue.remove(watch);
      watches.delete(id);
      if (watches === this.#recalling) this.#recallMore();
    }
  }

  #callbacksOf(run: PlannedRun): MetricsCallbacks {
    const stops = this.#earlyStops;
    return {
      restart: () => {
        this.#objectives.forget(run.id);
        stops.restart(run);
      },
      remember: (row) => {
        this.#objectives.take(run, row);
        stops.remember(run, row);
      },
      note: (row) => {
        this.#objectives.take(run, row);
        this.#note(run, row);
      },
      judge: (row) => stops.judge(run, row),
    };
  }

  #note(run: PlannedRun, row: Readonly<Record<string, number>>): void {
    const words = this.#targets.note(run, row);
    if (words !== null) this.#listener.targetReached(run, words);
  }

  /** Of what is not there yet the folder would be watched, and searched at every write of any of its files. */
  async #watchFiles(watch: Watch): Promise<void> {
    if (watch.reports === 'on' || this.#live.get(watch.run.id) !== watch) return;
    watch.reports = 'wanted';
    if (this.#reported >= REPORTED_RUNS) return;
    const paths = watch.monitor.paths.filter((path) => this.#byPath.has(path) && statRegular(path).kind === 'file');
    if (paths.length === 0) return;
    watch.reports = 'on';
    this.#reported += 1;
    const files = await this.#fileWatcher();
    if (this.#live.get(watch.run.id) === watch) files.add(paths);
  }

  /** Loaded with the first run, so that a supervisor without runs is up at once. */
  #fileWatcher(): Promise<FSWatcher> {
    this.#files ??= import('chokidar').then(({ watch }) =>
      watch([], {
        ignoreInitial: true,
        ignored: (path, stats) => stats !== undefined && !stats.isFile() && this.#byPath.has(path),
      })
        .on('all', (_event, path) => this.#soon(this.#byPath.get(path)))
        // Too many files for inotify, or a folder that went away: the poll is still there.
        .on('error', () => undefined),
    );
    return this.#files;
  }

  #soon(watch: Watch | undefined): void {
    if (watch === undefined) return;
    this.#due.add(watch);
    this.#look ??= setTimeout(() => {
      this.#look = null;
      const due = [...this.#due];
      this.#due.clear();
      for (const each of due) {
        each.isFresh = each.reports === 'on';
        this.#read(each);
      }
    }, LOOK_MS).unref();
  }

  /** For file systems that report nothing (NFS), and for many runs: at a whole second, with all others who look as seldom. */
  #pollSoon(): void {
    const earned = Math.min(LONGEST_PAUSE_MS, this.#spentMs / POLLING_SHARE);
    const pause = earned > 1000 ? earned : 0;
    this.#poll ??= setTimeout(
      () => {
        this.#poll = null;
        this.#spentMs = 0;
        this.#pollAll();
        if (this.#live.size > 0) this.#pollSoon();
      },
      pause + untilWholeSecond(performance.now() + pause),
    ).unref();
  }

  #pollAll(): void {
    for (const watch of this.#live.values()) {
      if (!watch.isFresh) this.#read(watch);
      watch.isFresh = false;
    }
  }

  /** At once as far as it is short, in the background where it is long. */
  #read(watch: Watch): void {
    this.#queue.add(watch, watch.caughtUp === null ? 'live' : 'ended');
  }

  #readPart(watch: Watch, maxBytes: number): PartRead {
    const now = this.#listener.now();
    const part = watch.monitor.refresh(maxBytes);
    if (part.changed) {
      watch.hasNews = true;
      if (watch.reports === 'wanted') void this.#watchFiles(watch);
    }
    if (!part.more || now - watch.toldAt >= NEWS_MS) this.#tell(watch, now);
    if (!part.more) this.#caughtUp(watch);
    return part;
  }

  #tell(watch: Watch, now: number): void {
    const { run, monitor } = watch;
    this.#tellHindrance(watch);
    if (!watch.hasNews) return;
    watch.hasNews = false;
    watch.toldAt = now;
    this.#vitals.set(run.id, { ...monitor.vitals(now), best: this.#objectives.bestOf(run) });
    this.#listener.changed(run.id);
    // Nobody is to be called because of a run of the past.
    if (this.#recalling.get(run.id) === watch) return;
    if (monitor.ruleMet !== null) this.#listener.ruleMet(run.id, watch.attempt, monitor.ruleMet);
  }

  #tellHindrance(watch: Watch): void {
    const words = watch.monitor.hindrance;
    if (words === watch.hindrance) return;
    watch.hindrance = words;
    this.#listener.hindered(watch.run.id, words);
  }

  #caughtUp(watch: Watch): void {
    watch.caughtUp?.();
    const { id } = watch.run;
    const isRecalled = this.#recalling.get(id) === watch;
    if (isRecalled || this.#finishing.get(id) === watch) this.#noteEnding(watch);
    if (this.#finishing.get(id) === watch) {
      this.#finishing.delete(id);
      this.#listener.recalled();
    }
    if (this.#early.get(id) === watch) this.#early.delete(id);
    if (!isRecalled) return;
    this.#recalling.delete(id);
    this.#recallMore();
  }

  #noteEnding({ run: { id }, monitor }: Watch): void {
    const ending = monitor.ending();
    if (ending === null) return;
    this.#endings.set(id, ending);
    this.#listener.changed(id);
  }

  /** As many as are read side by side: who has said little does not wait for who has said much. */
  #recallMore(): void {
    // Closed meanwhile: there is nobody left to tell.
    if (this.#isClosed) return;
    while (this.#recalling.size < PAST_AT_ONCE && this.#pastAt < this.#past.length) {
      const run = this.#past[this.#pastAt++]!;
      const { id } = run;
      if ([this.#live, this.#early, this.#vitals, this.#recalling].some((known) => known.has(id))) continue;
      const watch = this.#watchOf({ ...run, stopWhen: null }, 0, -Infinity);
      this.#recalling.set(id, watch);
      this.#queue.add(watch, 'past');
    }
    if (this.#unrecalled > 0 || !this.#isRecalling) return;
    this.#isRecalling = false;
    this.#past.length = this.#pastAt = 0;
    this.#listener.recalled();
  }
}
