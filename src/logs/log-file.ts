import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../contract/files.js';
import { hydraLog } from '../files/hydra-log.js';
import { statRegular } from '../files/regular-file.js';
import { displayText } from '../text/display-text.js';
import type { LogSource } from './log-source.js';

/**
 * Finds the beginnings of a log's lines in any range of its bytes.
 *
 * A line may be longer than memory (a progress bar writes one line for hours). It is split into pieces at multiples of `PIECE` that
 * have no newline in the `PIECE` bytes before them. So a reader sees the same pieces from the start, the end or the middle, and
 * needs at most `PIECE` earlier bytes.
 */
export const PIECE = 16 << 10;

const NEWLINE = 10;
const RETURN = 13;

/** One line of a log, or a piece of a very long one. */
export type LogLine = {
  /** Offset of its first byte. */
  readonly offset: number;
  /** Offset after its newline. */
  readonly end: number;
  /** The text, safe to draw in one line, see `displayText`; at most `2 × PIECE` bytes long. */
  readonly text: string;
  /** False for a piece whose line continues. */
  readonly endsLine: boolean;
  /** False for the last line while it may still grow. */
  readonly isWhole: boolean;
};

/** Consecutive lines. `from` and `to` are beginnings of lines, or the end of the log; the lines between are complete. */
export type LogStretch = { readonly from: number; readonly to: number; readonly lines: readonly LogLine[] };

/** A shorter range of bytes may contain no beginning of a line. */
export const LEAST_READ = 4 * PIECE;

/**
 * A log of any size with random access: each call reads about as many bytes as requested, at any place.
 *
 * Of a line that carriage returns overwrote only the last state is returned, however many pieces it has.
 */
export class LogFile {
  readonly #source: LogSource;
  #size = 0;
  #identity: string | null = null;

  constructor(source: LogSource) {
    this.#source = source;
  }

  /** Size in bytes at the last look. */
  get size(): number {
    return this.#size;
  }

  /** Updates the size. `restarted`: the log was replaced or emptied, so that earlier lines are void. */
  look(): { readonly isThere: boolean; readonly restarted: boolean } {
    const found = this.#source.look();
    if (found === null) return { isThere: this.#identity !== null, restarted: false };
    const restarted = this.#identity !== null && (found.identity !== this.#identity || found.size < this.#size);
    this.#identity = found.identity;
    this.#size = found.size;
    return { isThere: true, restarted };
  }

  /** The lines after the beginning `offset`, about `budget` bytes. */
  linesAfter(offset: number, budget: number): LogStretch {
    const bytes = this.bytes(offset, Math.max(budget, LEAST_READ));
    const end = offset + bytes.length;
    const marks = [offset, ...beginnings(bytes, offset)];
    // Whether a piece is shown depends on the bytes after it, so the last pieces wait for the next read.
    const stop = end >= this.#size ? end : (marks.findLast((mark) => mark <= end - PIECE) ?? end);
    return this.#stretch({ bytes, base: offset, marks, stop });
  }

  /** The lines before the beginning `offset` (or the end of the log), about `budget` bytes. */
  linesBefore(offset: number, budget: number): LogStretch {
    const base = Math.max(0, offset - Math.max(budget, LEAST_READ));
    const bytes = this.bytes(base, offset + PIECE - base);
    const stop = Math.min(offset, base + bytes.length);
    const marks = beginnings(bytes, base);
    return this.#stretch({ bytes, base, marks: base === 0 ? [0, ...marks] : marks, stop });
  }

  /** Raw bytes, as far as the log has them. */
  bytes(from: number, length: number): Buffer {
    return this.#source.read(from, Math.min(length, this.#size - from));
  }

  /** The lines before `stop`. Bytes after it only tell whether the last line is overwritten. */
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

/** `bytes` begin at offset `base` of the log; `marks`: beginnings of lines and pieces in them, ascending. */
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
 * Offsets in the log at which a line or piece begins, or would begin: all in `(base, base + bytes.length]` that the bytes
 * determine. Ascending.
 *
 * @param base Offset of the first byte: a beginning, or any place; then breaks within `PIECE` bytes after it are left out.
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

/** Adds the breaks of a line that begins at `start`, before `stop`. */
function pushBreaks(found: number[], start: number, stop: number): void {
  for (let at = Math.ceil((start + PIECE) / PIECE) * PIECE; at < stop; at += PIECE) found.push(at);
}

/** Whether the bytes contain a carriage return that overwrites the line so far. */
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

/** Where programs keep what a run prints, the likely first: our own, sacred's, guild's, W&B's, the tinker-cookbook's. */
const usual = [
  runFiles.log,
  'cout.txt',
  '.guild/output',
  'files/output.log',
  'logs.log',
  'log.txt',
  'stdout.txt',
  'train.log',
];
const MOST_ENTRIES = 1024;

/** Path of the log in the directory of a run of any program: a usual name, the one that Hydra gives it, else the only file that is called `….log` (`….out`, `….err`). */
export function foundLog(directory: string): string {
  const [own, ...others] = usual.map((name) => join(directory, name));
  const named = [own!, hydraLog(directory) ?? own!, ...others].find((path) => statRegular(path).kind === 'file');
  if (named !== undefined) return named;
  const logs = logsIn(directory);
  return logs.length === 1 ? join(directory, logs[0]!) : join(directory, runFiles.log);
}

function logsIn(directory: string): string[] {
  try {
    const names = readdirSync(directory).slice(0, MOST_ENTRIES);
    const logs = names.filter((name) => /\.log$/i.test(name));
    return logs.length > 0 ? logs : names.filter((name) => /\.(out|err)$/i.test(name));
  } catch {
    return [];
  }
}
