import { findFailure } from '../../../logs/failure-line.js';
import { LogFile, type LogLine, type LogStretch } from '../../../logs/log-file.js';
import { attemptRule } from '../../../contract/attempt-separator.js';
import type { LogSource } from '../../../logs/log-source.js';
import type { LogPlace } from '../../state/log-choice.js';
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
