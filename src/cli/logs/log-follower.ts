import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegular } from '../../files/regular-file.js';

const BLOCK = 1 << 20;
const NEWLINE = 10;
/** Limit on the part of a line that is kept in memory, bytes: a program may write one line for days. */
export const PIECE = 1 << 16;

/** A line without its newline, or a part of one that is longer than `PIECE`; parts end between two characters. */
export type LogPiece = { readonly bytes: Buffer; readonly endsLine: boolean };

/**
 * The lines of a run's output, as bytes, while it grows. Keeps an offset and at most a piece in memory, never a whole line or file.
 *
 * A missing file, or one that is not regular, has no lines. One that became shorter was emptied, and is read from its start.
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
