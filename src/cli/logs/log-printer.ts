import { closeSync, fstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { openRegular } from '../../files/regular-file.js';
import { overwrites } from '../../logs/log-file.js';
import { matchWithin } from '../../logs/log-search.js';
import { displayText, shortened } from '../../text/display-text.js';
import type { Painted } from '../terminal.js';

const BLOCK = 1 << 20;
const NEWLINE = 10;
/** Limit on the part of a line that is kept in memory, bytes: a program may write one line for days. */
export const PIECE = 1 << 16;

/** A line without its newline, or a part of one that is longer than `PIECE`; parts end between two characters. */
type LogPiece = { readonly bytes: Buffer; readonly endsLine: boolean };

/**
 * The lines of a run's output, as bytes, while it grows. Keeps an offset and at most a piece in memory, never a whole line or file.
 *
 * Missing files and files that are not regular have no lines. A file that became shorter was emptied, and is read from its start.
 */
export class LogFile {
  readonly #path: string;
  #offset: number;
  /** Bytes that were read but not returned; shorter than a piece. */
  #rest: Buffer = Buffer.alloc(0);
  /** Whether pieces of the present line were returned, but not its end. */
  #isOpen = false;

  /** @param from Offset of the beginning of a line. */
  constructor(path: string, from: number) {
    this.#path = path;
    this.#offset = from;
  }

  /**
   * The lines completed since the last call, and pieces of long ones. Reads lazily, so that a long log needs one block of memory.
   */
  *added(): Generator<LogPiece> {
    const opened = openRegular(this.#path);
    if (opened.kind !== 'file') return;
    const { descriptor } = opened;
    try {
      if (opened.stat.size < this.#offset) this.#restart();
      for (;;) {
        const missing = fstatSync(descriptor).size - this.#offset;
        if (missing <= 0) return;
        const block = Buffer.allocUnsafe(Math.min(missing, BLOCK));
        const length = readSync(descriptor, block, 0, block.length, this.#offset);
        if (length === 0) return;
        this.#offset += length;
        yield* this.#pieces(block.subarray(0, length));
      }
    } finally {
      closeSync(descriptor);
    }
  }

  /** Returns an unfinished line, such as a progress bar; null: there is none. */
  takeRest(): LogPiece | null {
    if (this.#rest.length === 0 && !this.#isOpen) return null;
    const bytes = this.#rest;
    this.#rest = Buffer.alloc(0);
    this.#isOpen = false;
    return { bytes, endsLine: true };
  }

  #restart(): void {
    this.#offset = 0;
    this.#rest = Buffer.alloc(0);
    this.#isOpen = false;
  }

  *#pieces(block: Buffer): Generator<LogPiece> {
    let left = this.#rest.length === 0 ? block : Buffer.concat([this.#rest, block]);
    for (let end = left.indexOf(NEWLINE, this.#rest.length); end >= 0; end = left.indexOf(NEWLINE)) {
      const last = yield* this.#cut(left.subarray(0, end));
      left = left.subarray(end + 1);
      this.#isOpen = false;
      yield { bytes: last, endsLine: true };
      this.#rest = Buffer.alloc(0);
    }
    // A copy, so that the block can be freed.
    this.#rest = Buffer.from(yield* this.#cut(left));
  }

  /** Yields whole pieces; returns the rest, which is shorter than a piece. */
  *#cut(line: Buffer): Generator<LogPiece, Buffer> {
    let left = line;
    while (left.length > PIECE) {
      const end = characterStart(left, PIECE);
      this.#isOpen = true;
      yield { bytes: left.subarray(0, end), endsLine: false };
      left = left.subarray(end);
    }
    return left;
  }
}

/** The beginning of the UTF-8 character with this byte; the byte itself if it is not valid. */
function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4; start--) if ((bytes[start]! & 0xc0) !== 0x80) return start;
  return at;
}

/** Offset of the last `count` lines of the file, an unfinished one included; 0 for a missing file. */
export function startOfLastLines(path: string, count: number): number {
  const opened = openRegular(path);
  if (opened.kind !== 'file') return 0;
  const { descriptor, stat } = opened;
  const { size } = stat;
  try {
    if (count <= 0) return size;
    let missing = count;
    const block = Buffer.allocUnsafe(64 << 10);
    for (let end = size; end > 0; end -= block.length) {
      const start = Math.max(0, end - block.length);
      const length = readSync(descriptor, block, 0, end - start, start);
      for (let at = length - 1; at >= 0; at--) {
        // The newline at the end of the file begins no line.
        if (block[at] === NEWLINE && start + at + 1 < size && --missing === 0) return start + at + 1;
      }
    }
    return 0;
  } finally {
    closeSync(descriptor);
  }
}

export type LogOptions = {
  /** Number of lines to begin with. */
  readonly count: number;
  /** Print only matching lines, anywhere in the log. In a very long line each piece counts as a line. */
  readonly grep: RegExp | null;
  /** Print the run's bytes unchanged, instead of text that is safe to show. */
  readonly raw: boolean;
};

/** Destination of the output: text without a newline, and bytes. */
type LogOutput = {
  readonly text: (text: string | Painted) => void;
  readonly bytes: (bytes: Uint8Array) => void;
  /** Resolves once all of it is written; until then it is kept in memory. */
  readonly settled: () => Promise<void>;
};

/** Number of pieces that are matched together. */
const BATCH = 256;
/** Number of pieces that are printed before waiting for the output. */
const TURN = 32;
const newline = Buffer.from('\n');

/** Prints the output of one run, line by line; keeps at most a piece of a line in memory. */
export class LogPrinter {
  readonly #file: LogFile;
  readonly #options: LogOptions;
  readonly #prefix: string | Painted | null;
  readonly #output: LogOutput;
  readonly #matches: (texts: readonly string[]) => readonly boolean[];
  /** Whether a part of the present line was printed. */
  #isOpen = false;
  /** The last piece of the present line, which following bytes may overwrite. */
  #held = '';

  /** @param prefix Printed before each line; null: none. */
  constructor(directory: string, prefix: string | Painted | null, options: LogOptions, output: LogOutput) {
    const path = join(directory, runFiles.log);
    // Matches may be anywhere, so that all of it has to be read.
    this.#file = new LogFile(path, options.grep === null ? startOfLastLines(path, options.count) : 0);
    this.#options = options;
    this.#prefix = prefix;
    this.#output = output;
    this.#matches = options.grep === null ? (texts) => texts.map(() => true) : lineFilter(options.grep);
  }

  /** Prints the last lines. */
  async printLast(): Promise<void> {
    const { count, grep } = this.#options;
    if (grep === null) return this.printAdded();
    const last: Buffer[] = [];
    for (const { bytes } of this.#matching(this.#file.added())) {
      // A copy, so that its block can be freed.
      last.push(Buffer.from(bytes));
      if (last.length > count) last.shift();
    }
    await this.#printAll(last.map((bytes) => ({ bytes, endsLine: true })));
  }

  /** Prints new lines. */
  async printAdded(): Promise<void> {
    const added = this.#file.added();
    await this.#printAll(this.#options.grep === null ? added : this.#matching(added));
  }

  /** Prints an unfinished last line, when no more will come. */
  printRest(): void {
    const rest = this.#file.takeRest();
    if (rest !== null && this.#matches([shown(rest)])[0] === true) this.#print(rest);
  }

  async #printAll(pieces: Iterable<LogPiece>): Promise<void> {
    let printed = 0;
    for (const piece of pieces) {
      this.#print(piece);
      if (++printed % TURN === 0) await this.#output.settled();
    }
  }

  *#matching(pieces: Iterable<LogPiece>): Generator<LogPiece> {
    let batch: LogPiece[] = [];
    for (const piece of pieces) {
      batch.push(piece);
      if (batch.length < BATCH) continue;
      yield* this.#matchingOf(batch);
      batch = [];
    }
    yield* this.#matchingOf(batch);
  }

  #matchingOf(batch: readonly LogPiece[]): LogPiece[] {
    if (batch.length === 0) return [];
    const isMatching = this.#matches(batch.map(shown));
    // A match in a long line is printed as a line of its own.
    return batch.filter((_piece, index) => isMatching[index]).map(({ bytes }) => ({ bytes, endsLine: true }));
  }

  #print(piece: LogPiece): void {
    const { text, bytes } = this.#output;
    if (!this.#isOpen && this.#prefix !== null) text(this.#prefix);
    this.#isOpen = !piece.endsLine;
    if (this.#options.raw) {
      bytes(piece.bytes);
      if (piece.endsLine) bytes(newline);
      return;
    }
    // Of a line that was overwritten only the last state is shown, however many pieces it has.
    const before = overwrites(piece.bytes) ? '' : this.#held;
    this.#held = piece.endsLine ? '' : shown(piece);
    const now = before + (piece.endsLine ? `${shown(piece)}\n` : '');
    if (now !== '') text(now);
  }
}

const harmless = /^[\x20-\x7e]*$/;

function shown({ bytes }: LogPiece): string {
  const text = bytes.toString('utf8');
  return harmless.test(text) ? text : displayText(text);
}

/** Time limit of an expression for a batch of lines, ms. */
const PATIENCE_MS = 3000;

/**
 * Which texts match a user's expression.
 *
 * @throws {UserError} When the texts of one call take too long.
 */
function lineFilter(pattern: RegExp): (texts: readonly string[]) => readonly boolean[] {
  return (texts) => {
    const matched = matchWithin(() => texts.map((text) => pattern.test(text)), PATIENCE_MS);
    if (matched.kind === 'matched') return matched.value;
    throw new UserError(
      `--grep ${shortened(pattern.source)} takes too long: ${PATIENCE_MS / 1000} s were not enough for ${texts.length} lines.`,
      'Write it without a repetition of a repetition, such as (a+)+: a+ finds the same lines.',
    );
  };
}
