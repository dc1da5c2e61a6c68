import { attemptRule } from '../../../contract/files.js';
import { errorWords, findFailure, isErrorLine } from '../../../logs/failure-line.js';
import { LogFile, type LogLine, type LogStretch } from '../../../logs/log-file.js';
import type { LineTest } from '../../../logs/log-plain-text.js';
import { LogSearch, readLogPattern } from '../../../logs/log-search.js';
import type { LogSource } from '../../../logs/log-source.js';
import type { LogPlace, LogSeek, Sought } from '../../state/run-choice.js';
import { readOrWait } from '../../state/port.js';
import { isAtEnd, lineAt, type LogPage } from './log-scroll.js';

/** Bytes read at a time, about a millisecond of work. */
const CHUNK = 128 << 10;
/** Lines kept on both sides of the visible part: several pages of any terminal. */
const MARGIN = 400;
/** Maximum number of lines in memory; those farthest away are dropped. */
const MOST = 5000;
/** If a log has grown by more bytes than this since the last look, it is read from its end again. */
const FAR = 8 * CHUNK;
/** Number of lines at the end of a log in which a failure is searched for. */
const LAST_WORDS = 400;

const empty: LogPage = { size: 0, from: 0, to: 0, lines: [], firstNumber: 1, failure: null, anchor: 0 };

/**
 * The lines of a log around the visible position, read and dropped as it moves.
 *
 * Each call of `improve` reads one part. Drawing never waits: a missing page is drawn when it has been read.
 */
export class LogWindow {
  readonly file: LogFile;
  #page: LogPage | null = null;
  #searched: readonly LogLine[] | null = null;

  constructor(source: LogSource) {
    this.file = new LogFile(source);
  }

  /** What has been read; the same object while nothing has changed. Null before the first look. */
  get page(): LogPage | null {
    return this.#page;
  }

  /** Reads the most urgent missing part around a position, if any. Returns true if more should be read at once. */
  improve(place: LogPlace, hasFailed: boolean): boolean {
    if (this.file.look().restarted) this.#page = null;
    const { size } = this.file;
    if (size === 0) {
      if (this.#page?.size !== 0) this.#page = empty;
      return false;
    }
    const goal = this.#goalOf(place);
    const isMore = this.#read(goal);
    const page = this.#page!;
    if (page.size !== size) this.#page = { ...page, size };
    if (hasFailed) this.#findFailure();
    return isMore;
  }

  /** The byte to read around; positions beyond the end mean the end. */
  #goalOf(place: LogPlace): number {
    if ('offset' in place) return place.offset;
    const failure = place.kind === 'opening' ? (this.#page?.failure ?? null) : null;
    return failure ?? Infinity;
  }

  #read(goal: number): boolean {
    const page = this.#page;
    const { size } = this.file;
    if (page === null || !covers(page, goal, size)) {
      const stretch = goal < size ? this.file.linesAfter(goal, CHUNK) : this.file.linesBefore(size, CHUNK);
      const firstNumber = stretch.from === 0 ? 1 : null;
      this.#page = { ...stretch, size, firstNumber, failure: null, anchor: Math.min(goal, size) };
      return true;
    }
    const index = goal >= size ? page.lines.length : lineAt(page, goal);
    if (page.to < size && page.lines.length - index < MARGIN) this.#extendDown(page);
    else if (page.from > 0 && index < MARGIN) this.#extendUp(page);
    else return false;
    this.#trim(goal);
    return true;
  }

  /** Extends the page downwards. An unfinished last line is read again with what follows it. */
  #extendDown(page: LogPage): void {
    const lines = page.lines.at(-1)?.isWhole === false ? page.lines.slice(0, -1) : page.lines;
    const added = this.file.linesAfter(lines === page.lines ? page.to : page.lines.at(-1)!.offset, CHUNK);
    this.#page = { ...page, to: added.to, lines: [...lines, ...added.lines] };
  }

  #extendUp(page: LogPage): void {
    const added: LogStretch = this.file.linesBefore(page.from, CHUNK);
    const firstNumber = added.from === 0 ? 1 : null;
    this.#page = { ...page, from: added.from, lines: [...added.lines, ...page.lines], firstNumber };
  }

  #trim(goal: number): void {
    const page = this.#page!;
    if (page.lines.length <= MOST) return;
    const index = goal >= page.size ? page.lines.length : lineAt(page, goal);
    const first = Math.max(0, Math.min(index - MOST / 4, page.lines.length - MOST / 2));
    const lines = page.lines.slice(first, first + MOST / 2);
    const ended = page.lines.slice(0, first).filter(({ endsLine }) => endsLine).length;
    const firstNumber = page.firstNumber === null ? null : page.firstNumber + ended;
    this.#page = { ...page, from: lines[0]!.offset, to: lines.at(-1)!.end, lines, firstNumber };
  }

  #findFailure(): void {
    const page = this.#page!;
    if (!isAtEnd(page) || this.#searched === page.lines) return;
    this.#searched = page.lines;
    const recent = page.lines.slice(-LAST_WORDS);
    const own = recent.slice(recent.findLastIndex(({ text }) => attemptRule.test(text)) + 1);
    const found = findFailure(own.map(({ text }) => text));
    const failure = found === null ? null : own[found.index]!.offset;
    if (failure !== page.failure) this.#page = { ...page, failure };
  }
}

function covers(page: LogPage, goal: number, size: number): boolean {
  if (page.lines.length === 0) return page.to === size && page.from === 0;
  if (goal >= size) return size - page.to <= FAR;
  return goal >= page.from && (goal < page.to || size - page.to <= CHUNK);
}

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
