import type { FSWatcher } from 'chokidar';
import { join } from 'node:path';
import type { RunId } from '../base/ids.js';
import { runFiles } from '../contract/files.js';
import type { PlannedRun } from '../spec/planned-run.js';
import { EarlyStops } from './early-stops.js';
import { noVitals, type Vitals } from './run-view.js';
import { Targets } from './targets.js';
import { type Jury, VitalSigns } from './vital-signs.js';

/** Told of what the metrics say. */
export type WatchListener = {
  changed: (id: RunId) => void;
  /** All that `recall` was asked for has been read. */
  recalled: () => void;
  ruleMet: (id: RunId, attempt: number, rule: string) => void;
  /** The first run of a group is good enough; how, in words. */
  targetReached: (run: PlannedRun, words: string) => void;
  /** A live run has fallen silent, or has lost a number that matters. */
  ailing: (run: PlannedRun, health: 'stalled' | 'nan') => void;
  now: () => number;
};

type Watch = { run: PlannedRun; attempt: number; signs: VitalSigns; path: string };

/** Between looks at a file that the system reports as changed, ms. */
const LOOK_MS = 100;
/** Between looks at all files, for file systems that report nothing (NFS), ms. */
const POLL_MS = 1000;
/** Runs younger than this are polled only, ms. */
const YOUTH_MS = 300;
/** Finished runs whose metrics are read in one go, in the background. */
const PAST_AT_ONCE = 4;

/** Keeps up with the metrics of all live runs, and remembers what those of ended runs said last. */
export class Watcher {
  readonly #listener: WatchListener;
  readonly #live = new Map<RunId, Watch>();
  readonly #byPath = new Map<string, Watch>();
  readonly #vitals = new Map<RunId, Vitals>();
  readonly #due = new Set<Watch>();
  readonly #past: PlannedRun[] = [];
  readonly #earlyStops = new EarlyStops();
  readonly #targets = new Targets();
  readonly #bornAt: number;
  #look: NodeJS.Timeout | null = null;
  #poll: NodeJS.Timeout | null = null;
  #files: Promise<FSWatcher> | null = null;

  constructor(listener: WatchListener) {
    this.#listener = listener;
    this.#bornAt = listener.now();
  }

  vitals(id: RunId): Vitals {
    return this.#vitals.get(id) ?? noVitals;
  }

  /** Whether nothing that `recall` was asked for is left to be read. */
  get hasRecalled(): boolean {
    return this.#past.length === 0;
  }

  /** Begins to follow an attempt that is up since `since`. */
  watch(run: PlannedRun, attempt: number, since: number): void {
    const watch = this.#watchOf(run, attempt, since);
    this.#live.set(run.id, watch);
    this.#byPath.set(watch.path, watch);
    this.#soon(watch);
    this.#poll ??= setInterval(() => this.#pollAll(), POLL_MS).unref();
    // Half of the cost of a run that lasts a moment would be to be watched.
    setTimeout(() => void this.#watchFile(watch), YOUTH_MS).unref();
  }

  /**
   * Reads what the run has written so far: to be called before its end is told, where the end lets others start. One that
   * lasted a moment may not be followed yet.
   */
  catchUp(run: PlannedRun, attempt: number): void {
    this.#read(this.#live.get(run.id) ?? this.#watchOf(run, attempt, this.#listener.now()));
  }

  /** The attempt has ended: reads its last rows and lets go of it. */
  finish(run: PlannedRun): void {
    const watch = this.#live.get(run.id);
    if (watch === undefined) return;
    this.#read(watch);
    this.#live.delete(run.id);
    this.#byPath.delete(watch.path);
    this.#due.delete(watch);
    void this.#files?.then((files) => files.unwatch(watch.path));
    if (this.#live.size > 0 || this.#poll === null) return;
    clearInterval(this.#poll);
    this.#poll = null;
  }

  /** Reads, in the background, what runs said that ended before this supervisor was there. */
  recall(runs: readonly PlannedRun[]): void {
    if (runs.length > 0 && this.#past.length === 0) setImmediate(() => this.#recallSome());
    this.#past.push(...runs);
  }

  /** The run is no longer known; another one may come under its name. */
  forget(id: RunId): void {
    this.#vitals.delete(id);
    this.#earlyStops.forget(id);
  }

  async close(): Promise<void> {
    this.#past.length = 0;
    if (this.#look !== null) clearTimeout(this.#look);
    if (this.#poll !== null) clearInterval(this.#poll);
    await (await this.#files)?.close();
  }

  #watchOf(run: PlannedRun, attempt: number, since: number): Watch {
    const history = attempt > 1 || since < this.#bornAt;
    const signs = new VitalSigns(run, since, this.#juryOf(run), history);
    return { run, attempt, path: join(run.directory, runFiles.metrics), signs };
  }

  #juryOf(run: PlannedRun): Jury {
    const stops = this.#earlyStops;
    return {
      restart: () => stops.restart(run),
      remember: (row) => stops.remember(run, row),
      note: (row) => this.#note(run, row),
      judge: (row) => stops.judge(run, row),
    };
  }

  #note(run: PlannedRun, row: Readonly<Record<string, number>>): void {
    const words = this.#targets.note(run, row);
    if (words !== null) this.#listener.targetReached(run, words);
  }

  async #watchFile(watch: Watch): Promise<void> {
    if (this.#live.get(watch.run.id) !== watch) return;
    const files = await this.#fileWatcher();
    if (this.#live.get(watch.run.id) === watch) files.add(watch.path);
  }

  /** Loaded with the first run, so that a supervisor without runs is up at once. */
  #fileWatcher(): Promise<FSWatcher> {
    this.#files ??= import('chokidar').then(({ watch }) =>
      watch([], { ignoreInitial: true })
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
      due.forEach((each) => this.#read(each));
    }, LOOK_MS).unref();
  }

  #pollAll(): void {
    for (const watch of this.#live.values()) this.#read(watch);
  }

  #read(watch: Watch): void {
    const now = this.#listener.now();
    const { id } = watch.run;
    const grown = watch.signs.refresh(now);
    // Silence is news too: it is how a stalled run is found.
    const before = this.#vitals.get(id)?.health ?? 'ok';
    const isNews = watch.signs.isSilent(now) !== (before === 'stalled');
    if (!grown && !isNews) return;
    const vitals = watch.signs.vitals(now);
    this.#vitals.set(id, vitals);
    this.#listener.changed(id);
    if (vitals.health !== 'ok' && vitals.health !== before) this.#listener.ailing(watch.run, vitals.health);
    const rule = watch.signs.ruleMet;
    if (rule !== null) this.#listener.ruleMet(id, watch.attempt, rule);
  }

  #recallSome(): void {
    // Closed meanwhile: there is nobody left to tell.
    if (this.#past.length === 0) return;
    for (const run of this.#past.splice(0, PAST_AT_ONCE)) {
      if (this.#live.has(run.id) || this.#vitals.has(run.id)) continue;
      const now = this.#listener.now();
      const signs = new VitalSigns({ ...run, stopWhen: null }, now, this.#juryOf(run), true);
      if (!signs.refresh(now)) continue;
      this.#vitals.set(run.id, signs.vitals(now));
      this.#listener.changed(run.id);
    }
    if (this.#past.length > 0) setImmediate(() => this.#recallSome());
    else this.#listener.recalled();
  }
}
