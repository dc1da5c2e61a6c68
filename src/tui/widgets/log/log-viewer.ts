import { errorWords, isErrorLine } from '../../../logs/failure-line.js';
import type { LineTest } from '../../../logs/log-plain-text.js';
import { LogSearch, readLogPattern } from '../../../logs/log-search.js';
import type { LogSource } from '../../../logs/log-source.js';
import { readOrWait } from '../../state/port.js';
import type { LogPlace, LogSeek, Sought } from '../../state/log-choice.js';
import { LogWindow } from './log-window.js';
import type { LogPage } from './log-scroll.js';

/** Time between two looks at an open log, in ms. */
const PERIOD = 500;
/** How long a run must stay open before its log is read, in ms, so that leafing through runs reads nothing. */
const REST = 30;

/** The log to read and the part of it to show. */
export type LogWish = {
  readonly directory: string;
  readonly place: LogPlace;
  /** Whether the run has failed, in which case the reason is searched for. */
  readonly hasFailed: boolean;
  readonly seek: LogSeek | null;
};

/** Callbacks of the viewer. `sought`: a search has ended with the start of a line, with nothing, or was given up. */
type LogNews = {
  readonly changed: () => void;
  readonly sought: (seek: LogSeek, found: Sought) => void;
};

/** Reads the open log around the visible part and searches in it, one part per turn of the event loop. */
export class LogViewer {
  readonly #open: (directory: string) => LogSource;
  readonly #news: LogNews;
  #wish: LogWish | null = null;
  #window: LogWindow | null = null;
  #search: LogSearch | null = null;
  #progress: number | null = null;
  /** The last search that has ended; the wish may still contain it. */
  #answered: LogSeek | null = null;
  /** Whether something was read since the last notification. */
  #isUntold = false;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(open: (directory: string) => LogSource, news: LogNews) {
    this.#open = open;
    this.#news = news;
  }

  /** Percentage of the log covered by the search; null: no search. */
  get progress(): number | null {
    return this.#progress;
  }

  /** The part of the log that has been read; null: none yet. */
  page(directory: string): LogPage | null {
    return this.#wish?.directory === directory ? (this.#window?.page ?? null) : null;
  }

  /** Null: no log is open. */
  want(wish: LogWish | null): void {
    const last = this.#wish;
    if (isSame(wish, last)) return;
    this.#wish = wish;
    if (wish === null || wish.directory !== last?.directory) {
      this.#window = wish === null ? null : new LogWindow(this.#open(wish.directory));
      this.#endSearch();
      this.#rest(wish === null ? null : REST);
      return;
    }
    if (wish.seek !== last.seek) this.#endSearch();
    this.#rest(0);
  }

  close(): void {
    this.#isClosed = true;
    this.#rest(null);
  }

  #rest(delay: number | null): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = delay === null || this.#isClosed ? null : setTimeout(() => this.#turn(), delay);
  }

  #turn(): void {
    const [wish, window] = [this.#wish, this.#window];
    if (wish === null || window === null) return;
    const goesOn = readOrWait(
      () => {
        const isMore = this.#readOn(window, wish);
        const isSearching = wish.seek !== null && wish.seek !== this.#answered && this.#searchOn(window, wish.seek);
        return isMore || isSearching;
      },
      () => void (this.#wish === wish && this.#rest(0)),
    );
    if (goesOn !== undefined && this.#wish === wish) this.#rest(goesOn ? 0 : PERIOD);
  }

  /** Reads one more part around the position. Returns true if there is more to read. */
  #readOn(window: LogWindow, { place, hasFailed }: LogWish): boolean {
    const before = window.page;
    const isMore = window.improve(place, hasFailed);
    if (window.page !== before) this.#isUntold = true;
    // Changes outside the visible part are not reported one by one, only at the end.
    if (this.#isUntold && (!isMore || before?.anchor !== window.page?.anchor)) {
      this.#isUntold = false;
      this.#news.changed();
    }
    return isMore;
  }

  #endSearch(): void {
    this.#search = null;
    this.#progress = null;
  }

  /** Searches one more part. Returns true while the search is under way. */
  #searchOn(window: LogWindow, seek: LogSeek): boolean {
    this.#search ??= new LogSearch(window.file, testFor(seek), seek.from, seek.direction);
    const step = this.#search.step();
    if (step.kind === 'searching') {
      const progress = Math.floor(step.done * 100);
      if (progress !== this.#progress) {
        this.#progress = progress;
        this.#news.changed();
      }
      return true;
    }
    this.#endSearch();
    this.#answered = seek;
    this.#news.sought(seek, step.kind === 'found' ? step.offset : step.kind === 'nothing' ? null : 'too long');
    return false;
  }
}

function isSame(a: LogWish | null, b: LogWish | null): boolean {
  if (a === null || b === null) return a === b;
  return a.directory === b.directory && a.place === b.place && a.seek === b.seek && a.hasFailed === b.hasFailed;
}

function testFor({ of, pattern }: LogSeek): LineTest {
  if (of === 'error') return { matches: isErrorLine, hint: errorWords };
  const read = readLogPattern(pattern);
  if (read.kind === 'problem') return { matches: () => false, hint: null };
  return { matches: (text) => text.search(read.regexp) >= 0, hint: read.hint };
}
