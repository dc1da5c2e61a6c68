import type { FSWatcher } from 'chokidar';
import { untilWholeSecond } from '../../base/lazy.js';
import { statRegular } from '../../files/regular-file.js';
import type { PartRead } from '../../metrics/run-metrics.js';
import { EarlyStops, ObjectiveBook, Targets } from './early-stops.js';
import { JudgedRungs } from './judged-rungs.js';
import { type MetricsCallbacks, MetricsMonitor } from './metrics-monitor.js';
import { type Busy, CATCH_UP_MS, type ReaderNews, type ReaderOrder, type ReadRun } from './reading-messages.js';
import { type Reading, ReadingQueue } from './reading-queue.js';
import { lastUsage } from './usage-file.js';

/** `now`: the scheduler's clock, ms. */
type ReaderTools = {
  tell: (news: ReaderNews) => void;
  now: () => number;
  busy: Busy;
  queue?: ReadingQueue;
  judgedFile?: string;
};

type Order<Type extends ReaderOrder['type']> = Extract<ReaderOrder, { type: Type }>;

/** `live`: the attempt is up. `ended`: its last rows are being read. `past`: it ended before this supervisor started. */
type Watch = Reading & {
  readonly ticket: number;
  readonly run: ReadRun;
  readonly attempt: number;
  readonly monitor: MetricsMonitor;
  state: 'live' | 'ended' | 'past';
  /** Set while the supervisor waits until all rows so far have been read; ends after a while. */
  hurry: NodeJS.Timeout | null;
  youth: NodeJS.Timeout | null;
  /** Number of rungs at which it was judged before this reader; null: nothing is left to judge. */
  judged: number | null;
  /** The last reported hindrance. */
  hindrance: string | null;
  /** Whether the system reports changes of its files; `wanted`: as soon as there is one. */
  reports: 'not yet' | 'wanted' | 'on';
  /** Whether a reported change caused a read since the last poll. */
  isFresh: boolean;
  /** Whether something has been read but not reported, or nothing was reported yet; and the time of the last report. */
  hasNews: boolean;
  toldAt: number;
};

/** Interval of reads of a file that the system reports as changed, ms. */
const LOOK_MS = 100;
/** Younger runs are only polled, ms. */
const YOUTH_MS = 300;
/**
 * Limit on the live runs that are watched by system reports, and read ten times a second. Each report takes half a ms of CPU time
 * over all threads.
 */
const REPORTED_RUNS = 16;
/** Share of a core's time that may be spent on live runs: if they are many, they are polled less often. */
const POLLING_SHARE = 0.03;
/** The same share if live runs have written nothing for a while. */
const QUIET_SHARE = 0.05;
/** Longest polling interval, ms. */
const LONGEST_PAUSE_MS = 5000;
/** Interval of reports while a long file is being read, ms. */
const NEWS_MS = 500;

/**
 * Reads the metrics of runs, and reports their values; in a thread of its own, as a run may have ten thousand files. It executes
 * the watcher's orders, and answers with `ReaderNews`.
 */
export class Reader {
  readonly #tools: ReaderTools;
  readonly #queue: ReadingQueue;
  readonly #watches = new Map<number, Watch>();
  readonly #live = new Set<Watch>();
  readonly #byPath = new Map<string, Watch>();
  readonly #due = new Set<Watch>();
  readonly #earlyStops = new EarlyStops();
  readonly #targets = new Targets();
  readonly #objectives = new ObjectiveBook();
  readonly #judged: JudgedRungs;
  /** Time spent on reading live runs since the last poll, ms. */
  #spentMs = 0;
  /** When a live run last wrote something, or was added; by `performance.now()`. */
  #newsAt = -Infinity;
  /** Whether the present polling interval is long because nothing was written. */
  #pausesQuietly = false;
  #reported = 0;
  #look: NodeJS.Timeout | null = null;
  #poll: NodeJS.Timeout | null = null;
  #files: Promise<FSWatcher> | null = null;

  constructor(tools: ReaderTools) {
    this.#tools = tools;
    this.#queue = tools.queue ?? new ReadingQueue();
    this.#judged = new JudgedRungs(tools.judgedFile ?? null);
  }

  take(order: ReaderOrder): void {
    switch (order.type) {
      case 'watch':
        return this.#watch(order);
      case 'catch-up':
        return this.#of(order, (watch) => this.#catchUp(watch));
      case 'finish':
        return this.#of(order, (watch) => this.#finish(watch));
      case 'recall':
        return this.#recall(order);
      case 'drop':
        return this.#of(order, (watch) => this.#letGo(watch));
      case 'forget':
        this.#earlyStops.forget(order.id);
        this.#objectives.forget(order.id);
    }
  }

  async close(): Promise<void> {
    this.#queue.close();
    this.#judged.close();
    for (const timer of [this.#look, this.#poll]) if (timer !== null) clearTimeout(timer);
    await (await this.#files)?.close();
  }

  #setBusy(ticket: number): void {
    const { busy } = this.#tools;
    busy[0] = ticket;
    if (ticket !== 0) busy[2]! += 1;
  }

  #of({ ticket }: { ticket: number }, act: (watch: Watch) => void): void {
    const watch = this.#watches.get(ticket);
    if (watch !== undefined) act(watch);
  }

  #watch(order: Order<'watch'>): void {
    const watch = this.#begin(order, 'live');
    this.#live.add(watch);
    const { run, attempt, hasPast } = order;
    watch.judged = hasPast ? this.#judged.before(run.id, attempt) : null;
    if (watch.judged !== null) this.#judged.set(run.id, attempt, watch.judged);
    else if (!hasPast) this.#noteRungs(watch);
    for (const path of watch.monitor.paths) this.#byPath.set(path, watch);
    this.#newsAt = performance.now();
    this.#read(watch);
    // The present interval may be the long one of idle runs.
    if (this.#pausesQuietly) this.#stopPolling();
    this.#pollSoon();
    // For a very short run, setting up a watch would be half of the cost.
    watch.youth = setTimeout(() => void this.#watchFiles(watch), YOUTH_MS).unref();
  }

  #recall({ ticket, run }: Order<'recall'>): void {
    const past = { ticket, run: { ...run, stopWhen: null }, attempt: 0, since: -Infinity, hasPast: true };
    this.#queue.add(this.#begin(past, 'past'), 'past');
  }

  #begin({ ticket, run, attempt, since, hasPast }: Omit<Order<'watch'>, 'type'>, state: Watch['state']): Watch {
    this.#setBusy(ticket);
    const monitor = new MetricsMonitor(run, since, this.#callbacksOf(run, ticket), { hasPast, busy: this.#tools.busy });
    const watch: Watch = {
      ...{
        ticket,
        run,
        attempt,
        monitor,
        state,
        hurry: null,
        youth: null,
        judged: null,
        hindrance: null,
        reports: 'not yet',
        isFresh: false,
      },
      ...{ hasNews: state === 'live', toldAt: this.#tools.now() },
      readPart: (maxBytes) => {
        const begun = this.#tools.now();
        const part = this.#readPart(watch, maxBytes);
        if (watch.state === 'live') this.#spentMs += this.#tools.now() - begun;
        return part;
      },
    };
    this.#watches.set(ticket, watch);
    this.#setBusy(0);
    return watch;
  }

  #catchUp(watch: Watch): void {
    watch.monitor.look();
    watch.hurry ??= setTimeout(() => {
      watch.hurry = null;
      // The rest is read like that of other runs.
      this.#read(watch);
    }, CATCH_UP_MS).unref();
    this.#read(watch);
  }

  /** Reads the last rows, at once or in the background, and then drops the reading. */
  #finish(watch: Watch): void {
    this.#unwatch(watch);
    watch.state = 'ended';
    // A short run that wrote nothing is not worth a message.
    watch.hasNews = watch.monitor.rows > 0 && (watch.hasNews || watch.monitor.isUnasked);
    watch.monitor.look();
    this.#read(watch);
  }

  #letGo(watch: Watch): void {
    this.#queue.remove(watch);
    this.#unwatch(watch);
    if (watch.hurry !== null) clearTimeout(watch.hurry);
    this.#watches.delete(watch.ticket);
  }

  #unwatch(watch: Watch): void {
    if (!this.#live.delete(watch)) return;
    this.#judged.delete(watch.run.id);
    if (watch.youth !== null) clearTimeout(watch.youth);
    const { paths } = watch.monitor;
    for (const path of paths) if (this.#byPath.get(path) === watch) this.#byPath.delete(path);
    this.#due.delete(watch);
    if (watch.reports === 'on') this.#reported -= 1;
    void this.#files?.then((files) => files.unwatch(paths.filter((path) => !this.#byPath.has(path))));
    if (this.#live.size === 0) this.#stopPolling();
  }

  #stopPolling(): void {
    if (this.#poll !== null) clearTimeout(this.#poll);
    this.#poll = null;
  }

  #callbacksOf(run: ReadRun, ticket: number): MetricsCallbacks {
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
        const words = this.#targets.note(run, row);
        if (words !== null) this.#tools.tell({ type: 'target-reached', ticket, words });
      },
      judge: (row) => stops.judge(run, row),
    };
  }

  /** Watches existing files. For missing ones the folder would be watched, and searched at every write of any of its files. */
  async #watchFiles(watch: Watch): Promise<void> {
    if (watch.reports === 'on' || !this.#live.has(watch)) return;
    watch.reports = 'wanted';
    if (this.#reported >= REPORTED_RUNS) return;
    const paths = watch.monitor.paths.filter((path) => this.#byPath.has(path) && statRegular(path).kind === 'file');
    if (paths.length === 0) return;
    watch.reports = 'on';
    this.#reported += 1;
    const files = await this.#fileWatcher();
    if (this.#live.has(watch)) files.add(paths);
  }

  /** The file watcher, loaded with the first run that is up for a while. */
  #fileWatcher(): Promise<FSWatcher> {
    this.#files ??= import('chokidar').then(({ watch }) =>
      watch([], {
        ignoreInitial: true,
        ignored: (path, stats) => stats !== undefined && !stats.isFile() && this.#byPath.has(path),
      })
        .on('all', (_event, path) => this.#soon(this.#byPath.get(path)))
        // There are too many files for inotify, or a folder disappeared: polling continues.
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

  /**
   * Schedules a poll, for file systems that report nothing (NFS), and for many runs: at a whole second, with all other timers of
   * that kind.
   */
  #pollSoon(): void {
    if (this.#poll !== null) return;
    const [earned, quiet] = [this.#spentMs / POLLING_SHARE, (performance.now() - this.#newsAt) * QUIET_SHARE];
    const longest = Math.min(LONGEST_PAUSE_MS, Math.max(earned, quiet));
    const pause = longest > 1000 ? longest : 0;
    this.#pausesQuietly = pause > earned;
    this.#poll = setTimeout(
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
    this.#judgeMissed();
    for (const watch of this.#live) {
      if (!watch.isFresh) this.#read(watch);
      watch.isFresh = false;
    }
  }

  /** Judges runs at rungs that they passed while there was no reader, once all values of their siblings are known. */
  #judgeMissed(): void {
    const missed = [...this.#live].filter(({ judged }) => judged !== null);
    if (missed.length === 0) return;
    const isUnknown = ({ state, monitor }: Watch) => state === 'past' || monitor.isInPast;
    if ([...this.#watches.values()].some(isUnknown)) return;
    for (const watch of missed) {
      const rule = this.#earlyStops.judgeMissed(watch.run, watch.judged!);
      watch.judged = null;
      this.#noteRungs(watch);
      if (rule === null) continue;
      watch.monitor.condemn(rule);
      watch.hasNews = true;
      this.#tell(watch, this.#tools.now());
    }
  }

  #noteRungs(watch: Watch): void {
    if (watch.state !== 'live' || watch.judged !== null) return;
    const rungs = this.#earlyStops.rungs(watch.run);
    if (rungs !== null) this.#judged.set(watch.run.id, watch.attempt, rungs);
  }

  /** Reads a short file at once, a long one in the background. */
  #read(watch: Watch): void {
    this.#queue.add(watch, watch.hurry === null ? 'live' : 'ended');
  }

  #readPart(watch: Watch, maxBytes: number): PartRead {
    const now = this.#tools.now();
    this.#setBusy(watch.ticket);
    const part = watch.monitor.refresh(maxBytes);
    if (part.changed) {
      watch.hasNews = true;
      this.#newsAt = performance.now();
      this.#noteRungs(watch);
      if (watch.reports === 'wanted') void this.#watchFiles(watch);
    }
    if (!part.more || now - watch.toldAt >= NEWS_MS) this.#tell(watch, now);
    if (!part.more) this.#caughtUp(watch);
    this.#setBusy(0);
    return part;
  }

  #tell(watch: Watch, now: number): void {
    const { ticket, run, monitor, state } = watch;
    const words = monitor.hindrance;
    if (words !== watch.hindrance) this.#tools.tell({ type: 'hindered', ticket, words });
    watch.hindrance = words;
    if (!watch.hasNews) return;
    watch.hasNews = false;
    watch.toldAt = now;
    const objective = this.#objectives.of(run.id);
    const vitals = monitor.vitals(now);
    const metrics = state === 'live' ? vitals.metrics : { ...vitals.metrics, ...lastUsage(run.directory) };
    this.#tools.tell({
      ...{ type: 'told', ticket, vitals: { ...vitals, metrics, best: this.#objectives.bestOf(run) } },
      ...{ objective: objective && { ...objective }, rows: monitor.rows, isUpToDate: monitor.isUpToDate },
      // Past runs cause no notifications.
      rule: state === 'past' ? null : monitor.ruleMet,
      judged: state === 'live' && monitor.isUpToDate ? monitor.judged() : null,
    });
  }

  #caughtUp(watch: Watch): void {
    const { ticket, run, monitor, state } = watch;
    if (watch.hurry !== null) {
      clearTimeout(watch.hurry);
      watch.hurry = null;
      this.#tools.tell({ type: 'caught-up', ticket });
    }
    if (state === 'live') return;
    this.#tools.tell({ type: 'read', ticket, ending: monitor.ending() });
    this.#letGo(watch);
    this.#objectives.forget(run.id);
  }
}
