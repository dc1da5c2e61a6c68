import * as z from 'zod';
import type { RunId } from '../../base/ids.js';
import { untilWholeSecond } from '../../base/lazy.js';
import { readRegular } from '../../files/regular-file.js';
import { writeWhole } from '../../files/whole-file.js';
import type { PartRead } from '../../metrics/run-metrics.js';
import { identityOf } from '../../metrics/source.js';
import { EndedSummaries, type EndedSummary, endedVitals, newsOf } from './ended-summaries.js';
import { MetricsMonitor } from './metrics-monitor.js';
import { type Busy, CATCH_UP_MS, type ReaderNews, type ReaderOrder, type ReadRun } from './reading-messages.js';
import { FileReports, type Reported } from './file-reports.js';
import { type Reading, ReadingQueue } from './reading-queue.js';
import { RowJudges } from './row-judges.js';
import { lastUsage } from './usage-file.js';

/** `now`: the scheduler's clock, ms. `judgedFile`: see `JudgedRungs`. `summaries`: folder, see `EndedSummaries`; absent: nothing is stored. */
type ReaderTools = {
  tell: (news: ReaderNews) => void;
  now: () => number;
  busy: Busy;
  queue?: ReadingQueue;
  judgedFile?: string;
  summaries?: string;
  summariesMs?: number;
};

type Order<Type extends ReaderOrder['type']> = Extract<ReaderOrder, { type: Type }>;

/** `live`: the attempt is up. `ended`: its last rows are being read. `past`: it ended before this supervisor started. */
type Watch = Reading &
  Reported & {
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
    /** Identity of its files, from which all has been read; null: it is not known. */
    identity: string | null;
    /** Whether something has been read but not reported, or nothing was reported yet; and the time of the last report. */
    hasNews: boolean;
    toldAt: number;
  };

/** Past runs that are read side by side. */
const PAST_AT_ONCE = 8;
/** Younger runs are only polled, ms. */
const YOUTH_MS = 300;
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
  /** Past runs that have not been begun with, by ticket; and those that are being read. */
  readonly #past = new Map<number, ReadRun>();
  readonly #reading = new Set<Watch>();
  readonly #judges = new RowJudges();
  readonly #judged: JudgedRungs;
  readonly #summaries: EndedSummaries;
  /** Time spent on reading live runs since the last poll, ms. */
  #spentMs = 0;
  /** When a live run last wrote something, or was added; by `performance.now()`. */
  #newsAt = -Infinity;
  /** Whether the present polling interval is long because nothing was written. */
  #pausesQuietly = false;
  #poll: NodeJS.Timeout | null = null;
  readonly #reports = new FileReports<Watch>((watch) => this.#read(watch));

  constructor(tools: ReaderTools) {
    this.#tools = tools;
    this.#queue = tools.queue ?? new ReadingQueue();
    this.#judged = new JudgedRungs(tools.judgedFile ?? null);
    this.#summaries = new EndedSummaries(tools.summaries ?? null, tools.summariesMs);
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
        this.#past.delete(order.ticket);
        return this.#of(order, (watch) => this.#letGo(watch));
      case 'forget':
        this.#judges.forget(order.id);
    }
  }

  async close(): Promise<void> {
    this.#queue.close();
    this.#judged.close();
    this.#summaries.close();
    this.#stopPolling();
    await this.#reports.close();
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
    this.#reports.expect(watch);
    this.#newsAt = performance.now();
    this.#read(watch);
    // The present interval may be the long one of idle runs.
    if (this.#pausesQuietly) this.#stopPolling();
    this.#pollSoon();
    // For a very short run, setting up a watch would be half of the cost.
    watch.youth = setTimeout(() => this.#reports.want(watch), YOUTH_MS).unref();
  }

  #recall({ ticket, run }: Order<'recall'>): void {
    this.#setBusy(ticket);
    if (!this.#tellKept(ticket, run, this.#summaries.atOnce(run))) this.#past.set(ticket, run);
    this.#setBusy(0);
    this.#beginPast();
  }

  /** Begins with past runs of which nothing is known to be kept, a few side by side: a short one does not wait for a long one. */
  #beginPast(): void {
    for (const [ticket, run] of this.#past) {
      if (this.#reading.size >= PAST_AT_ONCE) return;
      this.#past.delete(ticket);
      const watch = this.#begin({ ticket, run, attempt: 0, since: -Infinity, hasPast: true }, 'past');
      this.#setBusy(ticket);
      const isKept = this.#tellKept(ticket, run, this.#summaries.of(run, watch.monitor.found()));
      this.#setBusy(0);
      if (isKept) {
        this.#watches.delete(ticket);
        continue;
      }
      this.#reading.add(watch);
      this.#queue.add(watch, 'past');
    }
  }

  #tellKept(ticket: number, run: ReadRun, kept: EndedSummary | null): kept is EndedSummary {
    if (kept === null) return false;
    this.#judges.recall(run, kept);
    newsOf(kept, { ticket, run }).forEach(this.#tools.tell);
    return true;
  }

  #keep({ run, monitor, identity }: Watch): void {
    const told = identity === null ? null : monitor.ended(this.#tools.now());
    if (told === null) return;
    this.#summaries.keep(run, monitor.found(), identity!, this.#judges.summaryWith(told, run));
  }

  #begin({ ticket, run, attempt, since, hasPast }: Omit<Order<'watch'>, 'type'>, state: Watch['state']): Watch {
    this.#setBusy(ticket);
    const reached = (words: string) => this.#tools.tell({ type: 'target-reached', ticket, words });
    const monitor = new MetricsMonitor(run, since, this.#judges.callbacksOf(run, reached), {
      ...{ hasPast, isPast: state === 'past', busy: this.#tools.busy },
    });
    const watch: Watch = {
      ...{ ticket, run, attempt, monitor, state, hurry: null, youth: null, judged: null, hindrance: null },
      ...{ reports: 'not yet', isFresh: false, identity: null },
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
    if (this.#reading.delete(watch)) this.#beginPast();
  }

  #unwatch(watch: Watch): void {
    if (!this.#live.delete(watch)) return;
    this.#judged.delete(watch.run.id);
    if (watch.youth !== null) clearTimeout(watch.youth);
    this.#reports.drop(watch);
    if (this.#live.size === 0) this.#stopPolling();
  }

  #stopPolling(): void {
    if (this.#poll !== null) clearTimeout(this.#poll);
    this.#poll = null;
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
    if (missed.length === 0 || this.#past.size > 0) return;
    const isUnknown = ({ state, monitor }: Watch) => state === 'past' || monitor.isInPast;
    if ([...this.#watches.values()].some(isUnknown)) return;
    for (const watch of missed) {
      const rule = this.#judges.earlyStops.judgeMissed(watch.run, watch.judged!);
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
    const passed = this.#judges.earlyStops.passed(watch.run);
    if (passed !== null) this.#judged.set(watch.run.id, watch.attempt, passed.length);
  }

  /** Reads a short file at once, a long one in the background. */
  #read(watch: Watch): void {
    this.#queue.add(watch, watch.hurry === null ? 'live' : 'ended');
  }

  #readPart(watch: Watch, maxBytes: number): PartRead {
    const now = this.#tools.now();
    this.#setBusy(watch.ticket);
    const part = watch.state === 'live' ? watch.monitor.refresh(maxBytes) : this.#readEnded(watch, maxBytes);
    if (part.changed) {
      watch.hasNews = true;
      this.#newsAt = performance.now();
      this.#noteRungs(watch);
      if (watch.reports === 'wanted') this.#reports.want(watch);
    }
    if (!part.more || now - watch.toldAt >= NEWS_MS) this.#tell(watch, now);
    if (!part.more) this.#caughtUp(watch);
    this.#setBusy(0);
    return part;
  }

  /** Reads a part; at the end, it is looked whether anything has come since the files were identified. */
  #readEnded(watch: Watch, maxBytes: number): PartRead {
    const part = watch.monitor.refresh(maxBytes);
    if (part.more) return part;
    const identity = identityOf(watch.monitor.found().sources);
    const last = watch.monitor.refresh(maxBytes);
    watch.identity = last.changed || last.more ? null : (identity?.text ?? null);
    return { changed: part.changed || last.changed, bytes: part.bytes + last.bytes, more: last.more };
  }

  #tell(watch: Watch, now: number): void {
    const { ticket, run, monitor, state } = watch;
    const words = monitor.hindrance;
    if (words !== watch.hindrance) this.#tools.tell({ type: 'hindered', ticket, words });
    watch.hindrance = words;
    if (!watch.hasNews) return;
    watch.hasNews = false;
    watch.toldAt = now;
    const { best, objective } = this.#judges.objectives.told(run);
    const vitals = state === 'past' ? endedVitals(monitor.vitals(now)) : monitor.vitals(now);
    const metrics = state === 'live' ? vitals.metrics : { ...vitals.metrics, ...lastUsage(run.directory) };
    this.#tools.tell({
      ...{ type: 'told', ticket, vitals: { ...vitals, metrics, best } },
      ...{ objective, rows: monitor.rows, isUpToDate: monitor.isUpToDate },
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
    this.#keep(watch);
    this.#letGo(watch);
    this.#judges.objectives.forget(run.id);
  }
}

const JudgedFile = z.record(z.string(), z.object({ attempt: z.int(), rungs: z.int() }));
type Judged = z.infer<typeof JudgedFile>;

/** Delay in which changes are collected before they are written, ms. */
const WRITE_MS = 20;
const MOST_BYTES = 16 << 20;

/**
 * A file with the number of early-termination rungs at which each live run has been judged: the next supervisor judges a run at
 * those that it passed meanwhile, and at no other again.
 */
class JudgedRungs {
  readonly #path: string | null;
  readonly #before: Judged;
  readonly #now: Judged = {};
  #writing: NodeJS.Timeout | null = null;

  /** @param path Null: nothing is stored. */
  constructor(path: string | null) {
    this.#path = path;
    this.#before = path === null ? {} : readJudged(path);
  }

  /** The number stored for this attempt by an earlier reader; null: none. */
  before(id: RunId, attempt: number): number | null {
    const known = this.#before[id];
    return known?.attempt === attempt ? known.rungs : null;
  }

  set(id: RunId, attempt: number, rungs: number): void {
    const known = this.#now[id];
    if (known?.attempt === attempt && known.rungs === rungs) return;
    this.#now[id] = { attempt, rungs };
    this.#writeSoon();
  }

  delete(id: RunId): void {
    if (this.#now[id] === undefined) return;
    delete this.#now[id];
    this.#writeSoon();
  }

  close(): void {
    if (this.#writing !== null) clearTimeout(this.#writing);
  }

  #writeSoon(): void {
    const path = this.#path;
    if (path === null) return;
    this.#writing ??= setTimeout(() => {
      this.#writing = null;
      try {
        writeWhole(path, JSON.stringify(this.#now));
      } catch {
        // The disk is full: the next supervisor takes these runs as judged.
      }
    }, WRITE_MS).unref();
  }
}

function readJudged(path: string): Judged {
  const read = readRegular(path, MOST_BYTES);
  if (read.kind !== 'text') return {};
  try {
    return JudgedFile.parse(JSON.parse(read.text));
  } catch {
    return {};
  }
}
