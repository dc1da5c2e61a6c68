import { FollowedBytes, type Taken } from './followed-bytes.js';

/** What one look at the file gave. */
type NewBytes = {
  /** The file is another one than before, or was rewritten: forget all it said; `bytes` begin at its start. */
  restarted: boolean;
  /** Whole lines, each with its newline. */
  bytes: Buffer;
  /** Whether a further `read` would give more at once. */
  more: boolean;
};

/** A longer line is foreign data, and is skipped, bytes: to parse one such line may take as long as a turn ought to last. */
export const LONGEST_LINE = 256 << 10;
/** A file with so many bytes without a newline is no file of lines at all, and is given up. */
const FOREIGN = 64 << 20;
const none = Buffer.alloc(0);

/** Follows one growing file of text by path, and gives the bytes of lines completed since the last look. */
export class FollowedFile {
  readonly #file: FollowedBytes;
  /** Bytes skipped of a line that is too long; null: not in one. */
  #skipping: number | null = null;
  #skipped = 0;

  constructor(path: string) {
    this.#file = new FollowedBytes(path);
  }

  get path(): string {
    return this.#file.path;
  }

  /** Why it cannot be read, in words; null: it can, or nothing is there. */
  get obstacle(): string | null {
    return this.#isForeign ? `it has a line longer than ${FOREIGN >> 20} MB` : this.#file.obstacle;
  }

  get written(): FollowedBytes['written'] {
    return this.#file.written;
  }

  /** Where the next line begins, in bytes. */
  get offset(): number {
    return this.#file.offset;
  }

  /** How many lines were too long. */
  get skipped(): number {
    return this.#skipped;
  }

  /** The next read begins at the start of the file. */
  rewind(): void {
    this.#file.rewind();
    this.#forget();
  }

  /**
   * Lines completed since the last call.
   *
   * @param maxBytes Most bytes to read from the file in this call; exceeded only by a single line longer than that.
   */
  read(maxBytes: number): NewBytes {
    let lines: Buffer = none;
    const { restarted, more } = this.#file.read(maxBytes, (bytes, { isNew }) => {
      if (isNew) this.#forget();
      if (this.#isForeign) return { done: 0, needs: 0 };
      const end = bytes.lastIndexOf(10) + 1;
      if (end === 0) return this.#waitForNewline(bytes.length);
      lines = bytes.subarray(this.#skipping === null ? 0 : bytes.indexOf(10) + 1, end);
      if (this.#skipping !== null) this.#skipped += 1;
      this.#skipping = null;
      return { done: end, needs: 0 };
    });
    return { restarted, bytes: lines, more };
  }

  get #isForeign(): boolean {
    return this.#skipping !== null && this.#skipping > FOREIGN;
  }

  #forget(): void {
    this.#skipping = null;
    this.#skipped = 0;
  }

  /** No line ended in what was read: look further next time, or give the line up when it is absurdly long. */
  #waitForNewline(length: number): Taken {
    if (this.#skipping === null && length < LONGEST_LINE) return { done: 0, needs: LONGEST_LINE };
    this.#skipping = (this.#skipping ?? 0) + length;
    return { done: length, needs: 0 };
  }
}

/** `restarted`: the file was truncated, replaced or rewritten, and `lines` begin at its start again. */
type TailRead = { restarted: boolean; lines: string[]; more: boolean };

/** Enough for any tick; a long file is read over several. */
const MEGABYTE = 1 << 20;

/**
 * Reads the lines added to a file since the last call. One instance follows one file.
 *
 * Only whole lines are given: a torn last line, or a character cut in its middle, waits for its rest. A file that
 * is not there yet gives no lines. Call again while `more` is true to catch up with a long file.
 */
export class Tail {
  readonly #file: FollowedFile;

  constructor(path: string) {
    this.#file = new FollowedFile(path);
  }

  /** @param maxBytes Most bytes to read in this call; exceeded only by a line longer than that. */
  read(maxBytes = MEGABYTE): TailRead {
    const { restarted, bytes, more } = this.#file.read(maxBytes);
    if (bytes.length === 0) return { restarted, lines: [], more };
    const lines = bytes.toString('utf8', 0, bytes.length - 1).split('\n');
    return { restarted, lines: lines.map(withoutReturn), more };
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
