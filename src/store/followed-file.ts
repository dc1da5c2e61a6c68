import { closeSync, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs';

/** What one look at the file gave. */
export type NewBytes = {
  /** The file is another one than before, or was rewritten: forget all it said; `bytes` begin at its start. */
  restarted: boolean;
  /** Whole lines, each with its newline. Owned by the follower: valid until the next `read`. */
  bytes: Buffer;
  /** Whether a further `read` would give more at once. */
  more: boolean;
};

/** Bytes compared at the start of the file and before the offset, to notice a file rewritten in place. */
const SAMPLE = 256;
/** A line longer than this is foreign data, and is skipped. */
const LONGEST_LINE = 64 << 20;
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
  #skipping = false;
  #window = 0;
  #buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Lines completed since the last call.
   *
   * @param maxBytes Most bytes to read from the file in this call; exceeded only by a single line longer than that.
   */
  read(maxBytes: number): NewBytes {
    if (this.#isUnchanged()) return nothing;
    let descriptor: number;
    try {
      descriptor = openSync(this.#path, 'r');
    } catch {
      return nothing;
    }
    try {
      return this.#readFrom(descriptor, maxBytes);
    } catch {
      // A network file system may fail one read (ESTALE, EIO); the next look tries again.
      return nothing;
    } finally {
      closeSync(descriptor);
    }
  }

  #isUnchanged(): boolean {
    const seen = this.#seen;
    if (seen === null || this.#more || !this.#settled) return false;
    const now = statOrNull(this.#path);
    return (
      now === null ||
      (now.ino === seen.ino && now.dev === seen.dev && now.size === seen.size && now.mtimeMs === seen.mtimeMs)
    );
  }

  #readFrom(descriptor: number, maxBytes: number): NewBytes {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return nothing;
    const restarted =
      this.#seen !== null && this.#offset + this.#head.length > 0 && !this.#isSameFile(descriptor, stat);
    if (restarted) this.#forget();
    const wanted = Math.min(stat.size - this.#offset, Math.max(maxBytes, this.#window));
    const bytes = this.#take(this.#fill(descriptor, wanted), wanted);
    this.#remember(descriptor, stat, bytes);
    return { restarted, bytes, more: this.#more };
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
    this.#skipping = false;
    this.#head = Buffer.alloc(0);
    this.#anchor = Buffer.alloc(0);
  }

  #fill(descriptor: number, wanted: number): Buffer {
    if (this.#buffer.length < wanted) this.#buffer = Buffer.allocUnsafe(wanted);
    let length = 0;
    while (length < wanted) {
      const got = readSync(descriptor, this.#buffer, length, wanted - length, this.#offset + length);
      if (got === 0) break;
      length += got;
    }
    return this.#buffer.subarray(0, length);
  }

  /** Cuts what was read at its last newline, and moves the offset there. */
  #take(read: Buffer, wanted: number): Buffer {
    const end = read.lastIndexOf(10) + 1;
    if (end === 0) {
      this.#waitForNewline(read, wanted);
      return read.subarray(0, 0);
    }
    const start = this.#skipping ? read.indexOf(10) + 1 : 0;
    this.#skipping = false;
    this.#window = 0;
    this.#offset += end;
    return read.subarray(start, end);
  }

  /** No line ended in what was read: look further next time, or give the line up when it is absurdly long. */
  #waitForNewline(read: Buffer, wanted: number): void {
    if (this.#skipping || wanted >= LONGEST_LINE) {
      this.#skipping = true;
      this.#offset += read.length;
      this.#window = 0;
    } else {
      this.#window = wanted * 2;
    }
  }

  #remember(descriptor: number, stat: Stats, taken: Buffer): void {
    if (this.#head.length < SAMPLE && this.#offset > this.#head.length)
      this.#head = readAt(descriptor, 0, Math.min(SAMPLE, this.#offset));
    if (taken.length > 0 || this.#skipping) {
      const length = Math.min(SAMPLE, this.#offset);
      this.#anchor = readAt(descriptor, this.#offset - length, length);
    }
    const { dev, ino, size, mtimeMs } = stat;
    this.#seen = { dev, ino, size, mtimeMs };
    this.#settled = Date.now() - mtimeMs > RACY_MS;
    // While a line is being waited for, half the window was read already.
    this.#more = this.#offset + this.#window / 2 < size && (taken.length > 0 || this.#skipping || this.#window > 0);
  }
}

function statOrNull(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function readAt(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
}

function holds(descriptor: number, position: number, expected: Buffer): boolean {
  return expected.length === 0 || readAt(descriptor, position, expected.length).equals(expected);
}
