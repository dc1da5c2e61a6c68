import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegular } from '../../files/regular-file.js';

const BLOCK = 1 << 20;
const NEWLINE = 10;
/** Longest part of a line that is held at once, bytes: a program may write one line for days. */
export const PIECE = 1 << 16;

/** A line, or a part of one that is longer than `PIECE`; parts end between two characters. Without its newline. */
export type LogPiece = { readonly bytes: Buffer; readonly endsLine: boolean };

/**
 * The lines of a run's output, as bytes, while it grows. Holds an offset and at most a piece, never a line or the file.
 *
 * A file that is not there yet, or that is no file, has no lines. One that became shorter was emptied, and is read from its
 * start.
 */
export class LogFile {
  readonly #path: string;
  #offset: number;
  /** Read and not given yet; shorter than a piece. */
  #rest: Buffer = Buffer.alloc(0);
  /** Pieces of the line were given, and not its end. */
  #isOpen = false;

  /** @param from Byte to begin at: the start of a line. */
  constructor(path: string, from: number) {
    this.#path = path;
    this.#offset = from;
  }

  /** The lines completed since the last call, and what is too long to be held. Reads as it is asked: a long log costs one block. */
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

  /** Takes what has no newline yet, such as a progress bar; null when there is nothing of a line. */
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
    // A copy: the block is not kept for the sake of its end.
    this.#rest = Buffer.from(yield* this.#cut(left));
  }

  /** Gives pieces while there are whole ones; returns what is left, shorter than a piece. */
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

/** The beginning of the UTF-8 character that holds this byte; the byte itself where there is no such character. */
function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4; start--) if ((bytes[start]! & 0xc0) !== 0x80) return start;
  return at;
}

/** Where the last `count` lines of the file begin, an unfinished one included; 0 for a file that is not there. */
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
        // The newline that ends the file begins no line.
        if (block[at] === NEWLINE && start + at + 1 < size && --missing === 0) return start + at + 1;
      }
    }
    return 0;
  } finally {
    closeSync(descriptor);
  }
}
