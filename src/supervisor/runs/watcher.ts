import type { Ending } from '../../analysis/health/ending.js';
import type { RunId } from '../../base/ids.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { ObjectiveValues } from '../../spec/search/trials.js';
import { type MonitoredMetrics, nothingMonitored } from '../publish/run-view.js';
import {
  type Busy,
  CATCH_UP_MS,
  type JudgedLevels,
  newBusy,
  readRun,
  ruleIsOff,
  type ReaderHooks,
  type ReaderLink,
  type ReaderNews,
  type ReaderOrder,
} from '../reading/reading-messages.js';
import { isBarren, YoungReadings } from './young-readings.js';

/** Told of what the metrics say. */
export type WatchListener = {
  changed: (id: RunId) => void;
  /** Fewer runs are `unread`. */
  recalled: () => void;
  ruleMet: (id: RunId, attempt: number, rule: string) => void;
  /** The first run of a group is good enough; how, in words. */
  targetReached: (run: PlannedRun, words: string) => void;
  /** What of the run's metrics cannot be read, in words; null: nothing any more. */
  hindered: (id: RunId, words: string | null) => void;
  log: (line: string) => void;
  now: () => number;
};

/** What was read last of a live run. */
export type Followed = { readonly rows: number; readonly judged: () => JudgedLevels | null };

const nothingRead: Followed = { rows: 0, judged: () => null };

/**
 * One reading of a run. `early`: its end came before it was followed. `read`: what was told last; null: nothing, or it is behind.
 */
type Entry = {
  readonly ticket: number;
  readonly run: PlannedRun;
  readonly attempt: number;
  readonly since: number;
  readonly hasPast: boolean;
  state: 'early' | 'live' | 'finishing' | 'recalled';
  caughtUp: (() => void) | null;
  read: Followed | null;
  /** How often the reader died over it. */
  deaths: number;
};

/** Finished runs of which the reader is told at once: of most it need not read anything. */
const PAST_AT_ONCE = 256;
/** A run over which the reader died so often is not read any more. */
const MOST_DEATHS = 2;
/** How often it is looked whether the reader goes on, ms. */
const CHECK_MS = 5000;
/** After so many looks without a sign of life it is ended: at a rule, which takes microseconds, and at a file, which may be on a slow disk. */
const CHECKS_OF_RULE = 2;
const CHECKS_OF_FILE = 12;
/** Before a reader that died is opened anew, ms; doubles with each death, until one has lived for so long. */
const REOPEN_MS = 100;
const LONGEST_REOPEN_MS = 60_000;

/** Keeps up with the metrics of all live runs, and remembers what those of ended runs said last. A `Reader` elsewhere reads them. */
export class Watcher {
  readonly #listener: WatchListener;
  readonly #open: (hooks: ReaderHooks) => ReaderLink;
  #reader: ReaderLink | null = null;
  #busy = newBusy();
  readonly #checkMs: number;
  #checking: NodeJS.Timeout | null = null;
  /** What `#busy` said at the last look, and how many looks ago that was new. */
  #beat = { count: 0, looks: 0 };
  /** Why rules are not used any more, in words. */
  readonly #rulesOff = new Map<string, string>();
  readonly #young = new YoungReadings<Entry>({
    grown: (entry) => this.#post(this.#orderOf(entry)),
    barren: (entry) => this.#unheard.delete(entry) && this.#listener.changed(entry.run.id),
  });
  /** Live runs that have written before they were followed, and of which not all that has been read yet. */
  readonly #unheard = new Set<Entry>();
  #openedAt = -Infinity;
  #deaths = 0;
  #reopening: NodeJS.Timeout | null = null;
  #tickets = 0;
  readonly #entries = new Map<number, Entry>();
  readonly #byRun = new Map<RunId, Entry>();
  readonly #vitals = new Map<RunId, MonitoredMetrics>();
  readonly #objectives = new Map<RunId, ObjectiveValues>();
  /** Of ended runs of which all has been read. */
  readonly #endings = new Map<RunId, Ending>();
  #finishing = 0;
  /** Those that have not been begun with. */
  readonly #past = new Map<RunId, PlannedRun>();
  #isRecalling = false;
  #recalling = 0;
  readonly #bornAt: number;
  #isClosed = false;

  /** @param open Opens a reader; called with the first run that has written something: a thread takes time and memory. */
  constructor(listener: WatchListener, open: (hooks: ReaderHooks) => ReaderLink, checkMs = CHECK_MS) {
    this.#listener = listener;
    this.#checkMs = checkMs;
    this.#open = open;
    this.#bornAt = listener.now();
  }

  vitals(id: RunId): MonitoredMetrics {
    return this.#vitals.get(id) ?? nothingMonitored;
  }

  /** How the judged metric of an ended run ended; null: it is not known, or the run has none. */
  endingOf(id: RunId): Ending | null {
    return this.#endings.get(id) ?? null;
  }

  /** What was read of the live run of this attempt, once that is all that it had written; null: nothing, or it is behind. */
  followedOf(id: RunId, attempt: number): Followed | null {
    const entry = this.#byRun.get(id);
    if (entry?.state !== 'live' || entry.attempt !== attempt) return null;
    return this.#young.isBarren(entry) ? nothingRead : entry.read;
  }

  /** What the run has written of its objective; null: nothing, or it has none. */
  objectiveOf(id: RunId): ObjectiveValues | null {
    return this.#objectives.get(id) ?? null;
  }

  /** Whether nothing of the run is left to be read that is `unread`. */
  isRead(id: RunId): boolean {
    const entry = this.#byRun.get(id);
    if (entry === undefined) return !this.#past.has(id);
    return entry.state !== 'finishing' && entry.state !== 'recalled' && !this.#unheard.has(entry);
  }

  /** Of how many runs something is left to be read that they wrote before this supervisor was there, or before their end. */
  get unread(): number {
    return this.#unrecalled + this.#finishing + this.#unheard.size;
  }

  /** Of how many runs that `recall` was asked for something is left to be read. */
  get #unrecalled(): number {
    return this.#past.size + this.#recalling;
  }

  /** Begins to follow an attempt that is up since `since`. */
  watch(run: PlannedRun, attempt: number, since: number): void {
    this.#endings.delete(run.id);
    const known = this.#byRun.get(run.id);
    if (known?.state === 'early' && known.attempt === attempt) known.state = 'live';
    else this.#begin(run, 'live', attempt, since);
  }

  /**
   * Reads what the run has written so far, and then calls back; after `CATCH_UP_MS` at the latest: some 100 MB. A run holds its
   * slot meanwhile, and one that wrote more in its last second is not worth the wait of others. The rest of its rows is still
   * read, after its end. To be called where the end of a run lets others start. One that lasted a moment may not be followed yet.
   */
  catchUp(run: PlannedRun, attempt: number, caughtUp: () => void): void {
    const known = this.#byRun.get(run.id);
    const isFollowed = known?.state === 'live' || known?.state === 'early';
    const entry = isFollowed ? known : this.#begin(run, 'early', attempt, this.#listener.now());
    const timer = setTimeout(() => entry.caughtUp?.(), CATCH_UP_MS).unref();
    entry.caughtUp = () => {
      clearTimeout(timer);
      entry.caughtUp = null;
      if (!this.#isClosed) caughtUp();
    };
    this.#start(entry);
    this.#post({ type: 'catch-up', ticket: entry.ticket });
  }

  /** The attempt has ended: its last rows are read, and then it is let go of. */
  finish(run: PlannedRun): void {
    const entry = this.#byRun.get(run.id);
    if (entry?.state !== 'live' && entry?.state !== 'early') return;
    // One that lasted a moment, and of whom the reader does not know.
    const isOver = this.#young.has(entry) && !this.#vitals.has(run.id);
    if (isOver && isBarren(run)) return this.#letGo(entry);
    this.#start(entry);
    entry.state = 'finishing';
    this.#unheard.delete(entry);
    this.#finishing += 1;
    this.#post({ type: 'finish', ticket: entry.ticket });
  }

  /** Reads, in the background, what runs said that ended before this supervisor was there. */
  recall(runs: readonly PlannedRun[]): void {
    for (const run of runs) {
      if (this.#byRun.get(run.id)?.state === 'early') this.finish(run);
      else if (!this.#byRun.has(run.id) && !this.#vitals.has(run.id)) this.#past.set(run.id, run);
    }
    if (this.#isRecalling || this.#past.size === 0) return;
    this.#isRecalling = true;
    setImmediate(() => this.#recallMore());
  }

  /** The run is no longer known; another one may come under its name. */
  forget(id: RunId): void {
    this.#letGo(this.#byRun.get(id));
    for (const known of [this.#vitals, this.#objectives, this.#endings]) known.delete(id);
    if (this.#reader !== null) this.#post({ type: 'forget', id });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#past.clear();
    for (const timer of [this.#reopening, this.#checking]) if (timer !== null) clearTimeout(timer);
    this.#young.close();
    await this.#reader?.close();
  }

  #begin(run: PlannedRun, state: Entry['state'], attempt: number, since: number): Entry {
    this.#letGo(this.#byRun.get(run.id));
    const hasPast = attempt > 1 || since < this.#bornAt;
    const ticket = ++this.#tickets;
    const entry: Entry = {
      ...{ ticket, run, attempt, since, hasPast, state },
      ...{ caughtUp: null, read: null, deaths: 0 },
    };
    this.#entries.set(ticket, entry);
    this.#byRun.set(run.id, entry);
    if (state === 'live' && since < this.#bornAt) this.#unheard.add(entry);
    if (state === 'live') this.#young.add(entry);
    else this.#post(this.#orderOf(entry));
    return entry;
  }

  /** Orders the reading of the run, unless the reader has that order already. */
  #start(entry: Entry): void {
    if (this.#young.delete(entry)) this.#post(this.#orderOf(entry));
  }

  #orderOf({ ticket, run: planned, attempt, since, hasPast, state }: Entry): ReaderOrder {
    const ruleFault = this.#rulesOff.get(ruleKey(planned));
    const run = { ...readRun(planned), ...(ruleFault === undefined ? {} : { ruleFault }) };
    if (state === 'recalled') return { type: 'recall', ticket, run };
    return { type: 'watch', ticket, run, attempt, since, hasPast };
  }

  /** Another attempt follows, or nobody wants to know any more. */
  #letGo(entry: Entry | undefined): void {
    if (entry === undefined) return;
    if (!this.#young.delete(entry)) this.#post({ type: 'drop', ticket: entry.ticket });
    this.#settle(entry);
  }

  /** Nothing more will be told of it. */
  #settle(entry: Entry): void {
    this.#entries.delete(entry.ticket);
    this.#unheard.delete(entry);
    if (this.#byRun.get(entry.run.id) === entry) this.#byRun.delete(entry.run.id);
    entry.caughtUp?.();
    this.#listener.changed(entry.run.id);
    if (entry.state === 'finishing') {
      this.#finishing -= 1;
      this.#listener.recalled();
    }
    if (entry.state !== 'recalled') return;
    this.#recalling -= 1;
    this.#recallMore();
  }

  /** As many as the reader is told of at once. */
  #recallMore(): void {
    // Closed meanwhile: there is nobody left to tell.
    if (this.#isClosed) return;
    for (const [id, run] of this.#past) {
      if (this.#recalling >= PAST_AT_ONCE) break;
      this.#past.delete(id);
      this.#listener.changed(id);
      // It is up again, or was.
      if (this.#byRun.has(id) || this.#vitals.has(id)) continue;
      this.#recalling += 1;
      this.#begin(run, 'recalled', 0, -Infinity);
    }
    if (this.#unrecalled > 0 || !this.#isRecalling) return;
    this.#isRecalling = false;
    this.#listener.recalled();
  }

  #post(order: ReaderOrder): void {
    if (this.#isClosed || this.#reopening !== null) return;
    if (this.#reader === null) this.#openReader();
    else this.#reader.post(order);
  }

  /** Opens it, and tells it of all runs that are to be read, with the orders that a reader which died has not answered. */
  #openReader(): void {
    this.#openedAt = performance.now();
    const busy = newBusy();
    this.#busy = busy;
    const isThis = () => this.#busy === busy;
    this.#reader = this.#open({
      heard: (news) => isThis() && this.#hear(news),
      ended: (why) => isThis() && this.#died(why),
      now: () => this.#listener.now(),
      busy,
    });
    this.#checking ??= setInterval(() => this.#check(), this.#checkMs).unref();
    // Those that come meanwhile are told of as they come.
    for (const entry of [...this.#entries.values()]) {
      if (this.#young.has(entry)) continue;
      const order = this.#orderOf(entry);
      // What one that died has told of is told of again.
      this.#reader.post(order.type === 'watch' && this.#deaths > 0 ? { ...order, hasPast: true } : order);
      if (entry.caughtUp !== null) this.#reader.post({ type: 'catch-up', ticket: entry.ticket });
      if (entry.state === 'finishing') this.#reader.post({ type: 'finish', ticket: entry.ticket });
    }
  }

  /** A reader that does not go on is ended. One that hangs in the system itself is left alone: another takes its place. */
  #check(): void {
    const [ticket, isInRule, count] = this.#busy as unknown as [number, number, number];
    const isNew = ticket === 0 || count !== this.#beat.count;
    this.#beat = { count, looks: isNew ? 0 : this.#beat.looks + 1 };
    const { looks } = this.#beat;
    if (this.#reader === null || looks < (isInRule === 1 ? CHECKS_OF_RULE : CHECKS_OF_FILE)) return;
    void this.#reader.close();
    this.#died(`it did not go on for ${Math.round((looks * this.#checkMs) / 1000)} s`);
  }

  /** The run that it was reading is the likely cause, or its rule. All others are read again, from their first row. */
  #died(why: string): void {
    if (this.#isClosed) return;
    const [ticket, isInRule] = this.#busy as unknown as [number, number];
    this.#busy = newBusy();
    this.#reader = null;
    if (performance.now() - this.#openedAt > LONGEST_REOPEN_MS) this.#deaths = 0;
    const wait = Math.min(LONGEST_REOPEN_MS, REOPEN_MS * 2 ** this.#deaths++);
    const suspect = this.#entries.get(ticket);
    const place = suspect === undefined ? '' : ` over ${isInRule === 1 ? 'stop_when of ' : ''}${suspect.run.id}`;
    this.#listener.log(`the reader of metrics has died${place}: ${why}`);
    this.#reopening = setTimeout(() => {
      this.#reopening = null;
      if (this.#entries.size > 0) this.#openReader();
    }, wait).unref();
    if (suspect === undefined) return;
    if (isInRule === 1) this.#rulesOff.set(ruleKey(suspect.run), ruleIsOff(suspect.run, why));
    else if (++suspect.deaths >= MOST_DEATHS) this.#giveUp(suspect, why);
  }

  #giveUp(entry: Entry, why: string): void {
    this.#listener.hindered(entry.run.id, `its metrics are not read any more, because reading them failed: ${why}`);
    this.#settle(entry);
  }

  #hear(news: ReaderNews): void {
    const entry = this.#entries.get(news.ticket);
    // Of a reading that nobody wants any more.
    if (entry === undefined || this.#isClosed) return;
    const { run } = entry;
    switch (news.type) {
      case 'told':
        return this.#note(entry, news);
      case 'hindered':
        this.#unheard.delete(entry);
        return this.#listener.hindered(run.id, news.words);
      case 'target-reached':
        return this.#listener.targetReached(run, news.words);
      case 'caught-up':
        return entry.caughtUp?.();
      case 'read':
        this.#noteEnding(run.id, news.ending);
        this.#settle(entry);
    }
  }

  #noteEnding(id: RunId, ending: Ending | null): void {
    if (ending === null) return;
    this.#endings.set(id, ending);
    this.#listener.changed(id);
  }

  #note(
    entry: Entry,
    { vitals, objective, rule, rows, isUpToDate, judged }: Extract<ReaderNews, { type: 'told' }>,
  ): void {
    const { run, attempt } = entry;
    if (isUpToDate) this.#unheard.delete(entry);
    entry.read = isUpToDate ? { rows, judged: () => judged } : null;
    this.#vitals.set(run.id, { ...vitals, declared: vitals.declared ?? this.vitals(run.id).declared });
    if (objective === null) this.#objectives.delete(run.id);
    else this.#objectives.set(run.id, objective);
    this.#listener.changed(run.id);
    if (rule !== null) this.#listener.ruleMet(run.id, attempt, rule);
  }
}

/** Runs of a group have one rule, and with one of them it is switched off for all. */
function ruleKey({ sweep, group, stopWhen }: PlannedRun): string {
  return JSON.stringify([sweep, group, stopWhen]);
}
