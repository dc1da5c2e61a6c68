import { closeSync, readSync, type Stats } from 'node:fs';
import { obstacleOf, openRegular, statRegular } from './regular-file.js';

/** What one look at the file gave. */
type NewBytes = {
  /** The file is another one than before, or was rewritten: forget all it said; `bytes` begin at its start. */
  restarted: boolean;
  /** Whole lines, each with its newline. */
  bytes: Buffer;
  /** Whether a further `read` would give more at once. */
  more: boolean;
};

/** Bytes compared at the start of the file and before the offset, to notice a file rewritten in place. */
const SAMPLE = 256;
/** A longer line is foreign data, and is skipped, bytes: to parse one such line may take as long as a turn ought to last. */
export const LONGEST_LINE = 256 << 10;
/** A file with so many bytes without a newline is no file of lines at all, and is given up. */
const FOREIGN = 64 << 20;
/** Two writes this close may leave the same modification time. */
const RACY_MS = 50;
const nothing: NewBytes = { restarted: false, bytes: Buffer.alloc(0), more: false };

/**
 * Follows one growing file by path, and gives the bytes of lines completed since the last look.
 *
 * Holds an offset and two samples, never the file. A file is the same file while device and inode are the same, it
 * did not shrink below the offset, and its first bytes and those before the offset are unchanged; otherwise (truncated,
 * replaced by rename, rewritten in place) it is read again from its start. While it is missing, nothing changes.
 */
export class FollowedFile {
  readonly #path: string;
  #offset = 0;
  #head: Buffer = Buffer.alloc(0);
  #anchor: Buffer = Buffer.alloc(0);
  #seen: Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs'> | null = null;
  #settled = false;
  #more = false;
  /** Bytes skipped of a line that is too long; null: not in one. */
  #skipping: number | null = null;
  #skipped = 0;
  #window = 0;
  #obstacle: string | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Why the last look could not read it, in words: it is a pipe, the disk reports an error. Null: it could, or nothing is there. */
  get obstacle(): string | null {
    return this.#obstacle;
  }

  /** Where the next line begins, in bytes. */
  get offset(): number {
    return this.#offset;
  }

  /** How many lines were too long. */
  get skipped(): number {
    return this.#skipped;
  }

  /**
   * Lines completed since the last call.
   *
   * @param maxBytes Most bytes to read from the file in this call; exceeded only by a single line longer than that.
   */
  read(maxBytes: number): NewBytes {
    if (this.#isUnchanged()) return nothing;
    const opened = openRegular(this.#path);
    this.#obstacle = opened.kind === 'unreadable' ? opened.reason : null;
    if (opened.kind !== 'file') return nothing;
    try {
      return this.#readFrom(opened.descriptor, opened.stat, maxBytes);
    } catch (error) {
      // A network file system may fail one read (ESTALE, EIO); the next look tries again.
      const failed = obstacleOf(error);
      this.#obstacle = failed.kind === 'unreadable' ? failed.reason : null;
      return nothing;
    } finally {
      closeSync(opened.descriptor);
    }
  }

  #isUnchanged(): boolean {
    const seen = this.#seen;
    if (seen === null || this.#more || !this.#settled) return false;
    const there = statRegular(this.#path);
    // Opening says why.
    if (there.kind === 'unreadable') return false;
    if (there.kind === 'absent') return true;
    const { ino, dev, size, mtimeMs } = there.stat;
    return ino === seen.ino && dev === seen.dev && size === seen.size && mtimeMs === seen.mtimeMs;
  }

  #readFrom(descriptor: number, stat: Stats, maxBytes: number): NewBytes {
    const restarted =
      this.#seen !== null && this.#offset + this.#head.length > 0 && !this.#isSameFile(descriptor, stat);
    if (restarted) this.#forget();
    if (this.#isForeign) {
      this.#obstacle = `it has a line longer than ${FOREIGN >> 20} MB`;
      this.#more = false;
      return { restarted, bytes: nothing.bytes, more: false };
    }
    const wanted = Math.min(stat.size - this.#offset, Math.max(maxBytes, this.#window));
    const from = this.#offset;
    const bytes = this.#take(this.#fill(descriptor, wanted), wanted);
    this.#remember(descriptor, stat, this.#offset > from);
    return { restarted, bytes, more: this.#more };
  }

  get #isForeign(): boolean {
    return this.#skipping !== null && this.#skipping > FOREIGN;
  }

  #isSameFile(descriptor: number, stat: Stats): boolean {
    if (this.#seen === null || stat.ino !== this.#seen.ino || stat.dev !== this.#seen.dev) return false;
    if (stat.size < this.#offset) return false;
    const anchorAt = this.#offset - this.#anchor.length;
    return holds(descriptor, 0, this.#head) && holds(descriptor, anchorAt, this.#anchor);
  }

  #forget(): void {
    this.#offset = 0;
    this.#window = 0;
    this.#skipping = null;
    this.#skipped = 0;
    this.#head = Buffer.alloc(0);
    this.#anchor = Buffer.alloc(0);
  }

  #fill(descriptor: number, wanted: number): Buffer {
    const buffer = Buffer.allocUnsafe(wanted);
    let length = 0;
    while (length < wanted) {
      const got = readSync(descriptor, buffer, length, wanted - length, this.#offset + length);
      if (got === 0) break;
      length += got;
    }
    return buffer.subarray(0, length);
  }

  /** Cuts what was read at its last newline, and moves the offset there. */
  #take(read: Buffer, wanted: number): Buffer {
    const end = read.lastIndexOf(10) + 1;
    if (end === 0) {
      this.#waitForNewline(read, wanted);
      return read.subarray(0, 0);
    }
    const start = this.#skipping === null ? 0 : read.indexOf(10) + 1;
    if (this.#skipping !== null) this.#skipped += 1;
    this.#skipping = null;
    this.#window = 0;
    this.#offset += end;
    return read.subarray(start, end);
  }

  /** No line ended in what was read: look further next time, or give the line up when it is absurdly long. */
  #waitForNewline(read: Buffer, wanted: number): void {
    if (this.#skipping !== null || wanted >= LONGEST_LINE) {
      this.#skipping = (this.#skipping ?? 0) + read.length;
      this.#offset += read.length;
      this.#window = 0;
    } else {
      this.#window = wanted * 2;
    }
  }

  #remember(descriptor: number, stat: Stats, hasMoved: boolean): void {
    if (this.#head.length < SAMPLE && this.#offset > this.#head.length)
      this.#head = readAt(descriptor, 0, Math.min(SAMPLE, this.#offset));
    if (hasMoved) {
      const length = Math.min(SAMPLE, this.#offset);
      this.#anchor = readAt(descriptor, this.#offset - length, length);
    }
    const { dev, ino, size, mtimeMs } = stat;
    this.#seen = { dev, ino, size, mtimeMs };
    this.#settled = Date.now() - mtimeMs > RACY_MS;
    // While a line is being waited for, half the window was read already.
    this.#more = this.#offset + this.#window / 2 < size && (hasMoved || this.#window > 0);
  }
}

function readAt(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
}

function holds(descriptor: number, position: number, expected: Buffer): boolean {
  return expected.length === 0 || readAt(descriptor, position, expected.length).equals(expected);
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
