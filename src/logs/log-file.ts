import { displayText } from '../text/display-text.js';
import type { LogSource } from './log-source.js';

/**
 * Where the lines of a log begin, told from any stretch of its bytes.
 *
 * A line may be longer than memory (a progress bar writes one line for hours). It is broken into pieces at multiples of
 * `PIECE` that have no newline in the `PIECE` bytes before them. So whoever reads from the start, from the end or from
 * the middle sees the same pieces, and looks back `PIECE` bytes at most.
 */
export const PIECE = 16 << 10;

const NEWLINE = 10;
const RETURN = 13;

/** One line of a log, or a piece of a very long one. */
export type LogLine = {
  /** Byte at which it begins. */
  readonly offset: number;
  /** Byte after its newline. */
  readonly end: number;
  /** Safe to draw in one line, see `displayText`; at most `2 × PIECE` bytes long. */
  readonly text: string;
  /** False for a piece whose line goes on after it. */
  readonly endsLine: boolean;
  /** False for the last line while it may still grow. */
  readonly isWhole: boolean;
};

/** Lines that follow each other. `from` and `to` are beginnings, or the end of the log; nothing between is missing. */
export type LogStretch = { readonly from: number; readonly to: number; readonly lines: readonly LogLine[] };

/** Fewer bytes than this might hold no beginning. */
export const LEAST_READ = 4 * PIECE;

/**
 * A log of any size, read by place: each call reads about as many bytes as it is told, wherever in the file.
 *
 * Of a line that was overwritten by carriage returns only the last state is given, however many pieces it has.
 */
export class LogFile {
  readonly #source: LogSource;
  #size = 0;
  #identity: string | null = null;

  constructor(source: LogSource) {
    this.#source = source;
  }

  /** Bytes there were at the last look. */
  get size(): number {
    return this.#size;
  }

  /** Looks how long the log is now. `restarted`: it is another one than before or was emptied; what was read is void. */
  look(): { readonly isThere: boolean; readonly restarted: boolean } {
    const found = this.#source.look();
    if (found === null) return { isThere: this.#identity !== null, restarted: false };
    const restarted = this.#identity !== null && (found.identity !== this.#identity || found.size < this.#size);
    this.#identity = found.identity;
    this.#size = found.size;
    return { isThere: true, restarted };
  }

  /** What follows the beginning `offset`, about `budget` bytes of it. */
  linesAfter(offset: number, budget: number): LogStretch {
    const bytes = this.bytes(offset, Math.max(budget, LEAST_READ));
    const end = offset + bytes.length;
    const marks = [offset, ...beginnings(bytes, offset)];
    // What comes after a piece decides whether it is shown: the last ones wait for the next read.
    const stop = end >= this.#size ? end : (marks.findLast((mark) => mark <= end - PIECE) ?? end);
    return this.#stretch({ bytes, base: offset, marks, stop });
  }

  /** What comes before the beginning `offset` (or the end of the log), about `budget` bytes of it. */
  linesBefore(offset: number, budget: number): LogStretch {
    const base = Math.max(0, offset - Math.max(budget, LEAST_READ));
    const bytes = this.bytes(base, offset + PIECE - base);
    const stop = Math.min(offset, base + bytes.length);
    const marks = beginnings(bytes, base);
    return this.#stretch({ bytes, base, marks: base === 0 ? [0, ...marks] : marks, stop });
  }

  /** The bytes as they are, as far as there are so many. */
  bytes(from: number, length: number): Buffer {
    return this.#source.read(from, Math.min(length, this.#size - from));
  }

  /** The lines before `stop`. What follows it is looked at only for what overwrites the last of them. */
  #stretch({ bytes, base, marks, stop }: Cut): LogStretch {
    const lines: LogLine[] = [];
    const from = Math.min(stop, marks[0] ?? stop);
    for (let index = 0; index < marks.length && marks[index]! < stop; index++) {
      const offset = marks[index]!;
      const end = Math.min(stop, marks[index + 1] ?? stop);
      const own = bytes.subarray(offset - base, end - base);
      const ended = endsLine(own);
      if (!ended && overwrites(bytes.subarray(end - base, (marks[index + 2] ?? Infinity) - base))) continue;
      lines.push({ offset, end, text: textOf(own), endsLine: ended, isWhole: ended || end < this.#size });
    }
    return { from, to: stop, lines };
  }
}

/** `bytes` begin at the place `base` of the log; `marks`: where lines and pieces begin in them, ascending. */
type Cut = {
  readonly bytes: Buffer;
  readonly base: number;
  readonly marks: readonly number[];
  readonly stop: number;
};

const harmless = /^[\u0020-\u007e]*$/;

function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8', 0, endsLine(bytes) ? bytes.length - 1 : bytes.length);
  return harmless.test(text) ? text : displayText(text);
}

/**
 * Offsets in the log at which a line or piece begins, or would begin: all of those in `(base, base + bytes.length]`
 * that the bytes are enough to tell. Ascending.
 *
 * @param base Offset of the first of the bytes: a beginning, or any place; then breaks closer to it than `PIECE` are not told.
 */
function beginnings(bytes: Buffer, base: number): number[] {
  const found: number[] = [];
  let start = base;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    pushBreaks(found, start, base + at + 1);
    start = base + at + 1;
    found.push(start);
  }
  pushBreaks(found, start, base + bytes.length + 1);
  return found;
}

/** The breaks of a line that begins at `start`, before `stop`. */
function pushBreaks(found: number[], start: number, stop: number): void {
  for (let at = Math.ceil((start + PIECE) / PIECE) * PIECE; at < stop; at += PIECE) found.push(at);
}

/** Whether what is printed here goes back to the start of its row: it overwrites what its line said before. */
export function overwrites(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(RETURN); at >= 0; at = bytes.indexOf(RETURN, at + 1)) {
    const next = bytes[at + 1];
    if (next !== undefined && next !== NEWLINE && next !== RETURN) return true;
  }
  return false;
}

function endsLine(bytes: Buffer): boolean {
  return bytes.at(-1) === NEWLINE;
}
