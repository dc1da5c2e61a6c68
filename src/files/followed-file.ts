import { FollowedBytes, type Taken } from './followed-bytes.js';

/** The result of a read. */
type NewBytes = {
  /** The file is another one, or was rewritten: earlier lines are void, and `bytes` begin at its start. */
  restarted: boolean;
  /** Whole lines, each with its newline. */
  bytes: Buffer;
  /** Whether a further `read` would return more at once. */
  more: boolean;
  /** Whether the same file was opened anew. */
  isReopened: boolean;
};

/** Length limit of a line, bytes: a longer one is skipped, as parsing a single one would block the event loop for too long. */
export const LONGEST_LINE = 256 << 10;
/** A file with so many bytes without a newline is not a text file, and is not read further. */
const FOREIGN = 64 << 20;
const none = Buffer.alloc(0);

/** Follows one growing text file by path, and returns the bytes of the lines completed since the last look. */
export class FollowedFile {
  readonly #file: FollowedBytes;
  /** Number of bytes skipped of a line that is too long; null: not within such a line. */
  #skipping: number | null = null;
  #skipped = 0;

  constructor(path: string) {
    this.#file = new FollowedBytes(path);
  }

  get path(): string {
    return this.#file.path;
  }

  /** Why the file is not readable, in words; null: it is, or does not exist. */
  get obstacle(): string | null {
    return this.#isForeign ? `it has a line longer than ${FOREIGN >> 20} MB` : this.#file.obstacle;
  }

  get written(): FollowedBytes['written'] {
    return this.#file.written;
  }

  get isBehind(): boolean {
    return this.#skipping !== null || this.#file.isBehind;
  }

  /** Offset of the next line in bytes. */
  get offset(): number {
    return this.#file.offset;
  }

  /** Number of lines that were too long. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Makes the next read begin at the start of the file. */
  rewind(): void {
    this.#file.rewind();
    this.#forget();
  }

  /**
   * The lines completed since the last call.
   *
   * @param maxBytes Limit on the bytes read from the file in this call; exceeded only by a single longer line.
   */
  read(maxBytes: number): NewBytes {
    let lines: Buffer = none;
    const look = this.#file.read(maxBytes, (bytes, { isNew }) => {
      if (isNew) this.#forget();
      if (this.#isForeign) return { done: 0, needs: 0 };
      const end = bytes.lastIndexOf(10) + 1;
      if (end === 0) return this.#waitForNewline(bytes.length);
      lines = bytes.subarray(this.#skipping === null ? 0 : bytes.indexOf(10) + 1, end);
      if (this.#skipping !== null) this.#skipped += 1;
      this.#skipping = null;
      return { done: end, needs: 0 };
    });
    return { ...look, bytes: lines };
  }

  get #isForeign(): boolean {
    return this.#skipping !== null && this.#skipping > FOREIGN;
  }

  #forget(): void {
    this.#skipping = null;
    this.#skipped = 0;
  }

  /** Handles bytes without a newline: the next read takes more, or the line is skipped when it is too long. */
  #waitForNewline(length: number): Taken {
    if (this.#skipping === null && length < LONGEST_LINE) return { done: 0, needs: LONGEST_LINE };
    this.#skipping = (this.#skipping ?? 0) + length;
    return { done: length, needs: 0 };
  }
}

/** `restarted`: the file was truncated, replaced or rewritten, and `lines` begin at its start again. */
type TailRead = { restarted: boolean; lines: string[]; more: boolean };

/** Enough for one tick; a long file is read over several. */
const MEGABYTE = 1 << 20;

/**
 * Reads the lines added to a file since the last call. One instance follows one file.
 *
 * Only whole lines are returned: an incomplete last line, or a character cut in its middle, waits for its rest. A missing file has
 * no lines. Call again while `more` is true to catch up with a long file.
 */
export class Tail {
  readonly #file: FollowedFile;

  constructor(path: string) {
    this.#file = new FollowedFile(path);
  }

  /** @param maxBytes Limit on the bytes read in this call; exceeded only by a longer line. */
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
