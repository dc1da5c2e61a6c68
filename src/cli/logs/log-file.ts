import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const BLOCK = 1 << 20;
const NEWLINE = 10;

/**
 * The lines of a run's output, as bytes, while it grows. Holds an offset and an unfinished line, never the file.
 *
 * A file that is not there yet has no lines. One that became shorter was emptied, and is read from its start.
 */
export class LogFile {
  readonly #path: string;
  #offset: number;
  #rest: Buffer = Buffer.alloc(0);

  /** @param from Byte to begin at: the start of a line. */
  constructor(path: string, from: number) {
    this.#path = path;
    this.#offset = from;
  }

  /** The lines completed since the last call, without their newlines. Reads as it is asked: a long log costs one block. */
  *added(): Generator<Buffer> {
    const descriptor = openOrNull(this.#path);
    if (descriptor === null) return;
    try {
      if (fstatSync(descriptor).size < this.#offset) this.#restart();
      for (;;) {
        const missing = fstatSync(descriptor).size - this.#offset;
        if (missing <= 0) return;
        const block = Buffer.allocUnsafe(Math.min(missing, BLOCK));
        const length = readSync(descriptor, block, 0, block.length, this.#offset);
        if (length === 0) return;
        this.#offset += length;
        yield* this.#lines(block.subarray(0, length));
      }
    } finally {
      closeSync(descriptor);
    }
  }

  /** Takes the line that has no newline yet, such as a progress bar; null when there is none. */
  takeRest(): Buffer | null {
    if (this.#rest.length === 0) return null;
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest;
  }

  #restart(): void {
    this.#offset = 0;
    this.#rest = Buffer.alloc(0);
  }

  *#lines(block: Buffer): Generator<Buffer> {
    let from = 0;
    for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, from)) {
      const line = block.subarray(from, end);
      from = end + 1;
      const rest = this.takeRest();
      yield rest === null ? line : Buffer.concat([rest, line]);
    }
    this.#rest = Buffer.concat([this.#rest, block.subarray(from)]);
  }
}

/** Where the last `count` lines of the file begin, an unfinished one included; 0 for a file that is not there. */
export function startOfLastLines(path: string, count: number): number {
  const descriptor = openOrNull(path);
  if (descriptor === null) return 0;
  try {
    const { size } = fstatSync(descriptor);
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

function openOrNull(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}
