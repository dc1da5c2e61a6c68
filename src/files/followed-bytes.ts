import { closeSync, readSync, type Stats } from 'node:fs';
import { obstacleOf, openRegular, statRegular } from './regular-file.js';

/** What is taken of the bytes shown. `needs`: so many are needed to take any; 0: whatever comes next. */
export type Taken = { done: number; needs: number };

/**
 * Takes what it can use from the start of the file's next bytes; what is left is shown again. `isNew`: the file is another one
 * than before, or was rewritten, and the bytes begin at its start. `idleMs`: how long ago it was last written.
 */
export type Taker = (bytes: Buffer, look: { isNew: boolean; idleMs: number }) => Taken;

/** `more`: whether a further `read` would show more at once. */
export type Look = { restarted: boolean; more: boolean };

/** Bytes compared at the start of the file and before the offset, to notice a file rewritten in place. */
const SAMPLE = 256;
/** Two writes this close may leave the same modification time. */
const RACY_MS = 50;
const unchanged: Look = { restarted: false, more: false };
const none = Buffer.alloc(0);

/**
 * Follows one growing file by path, and shows what was added since the last look.
 *
 * Holds an offset and two samples, never the file. A file is the same file while device and inode are the same, it
 * did not shrink below the offset, and its first bytes and those before the offset are unchanged; otherwise (truncated,
 * replaced by rename, rewritten in place) it is read again from its start. While it is missing, nothing changes.
 */
export class FollowedBytes {
  readonly path: string;
  #offset = 0;
  #head: Buffer = none;
  #anchor: Buffer = none;
  #seen: Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs'> | null = null;
  #settled = false;
  #more = false;
  #window = 0;
  #obstacle: string | null = null;

  constructor(path: string) {
    this.path = path;
  }

  /** Why the last look could not read it, in words: it is a pipe, the disk reports an error. Null: it could, or nothing is there. */
  get obstacle(): string | null {
    return this.#obstacle;
  }

  /** Bytes that have been taken. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes the file had when it was last read. */
  get size(): number {
    return this.#seen?.size ?? 0;
  }

  /** The next read looks at the file even if nothing was written to it. */
  lookAgain(): void {
    this.#settled = false;
  }

  /** The next read begins at the start of the file. */
  rewind(): void {
    this.#forget();
    this.#settled = false;
  }

  /**
   * Shows `take` what is new. It is not called when nothing is.
   *
   * @param maxBytes Most bytes to read from the file in this call; exceeded only where `take` needs more.
   */
  read(maxBytes: number, take: Taker): Look {
    if (this.#isUnchanged()) return unchanged;
    const found = this.#next(maxBytes);
    if (found === null) return unchanged;
    const { stat, restarted, bytes } = found;
    const { done, needs } = take(bytes, { isNew: restarted, idleMs: Date.now() - stat.mtimeMs });
    this.#moveOn(bytes, done);
    const { dev, ino, size, mtimeMs } = stat;
    this.#seen = { dev, ino, size, mtimeMs };
    this.#settled = Date.now() - mtimeMs > RACY_MS;
    this.#window = done > 0 ? 0 : needs;
    const hasMore = this.#offset - done + bytes.length < size;
    this.#more = hasMore && (done > 0 || needs > bytes.length);
    return { restarted, more: this.#more };
  }

  #isUnchanged(): boolean {
    const seen = this.#seen;
    if (seen === null || this.#more || !this.#settled) return false;
    const there = statRegular(this.path);
    // Opening says why.
    if (there.kind === 'unreadable') return false;
    if (there.kind === 'absent') return true;
    const { ino, dev, size, mtimeMs } = there.stat;
    return ino === seen.ino && dev === seen.dev && size === seen.size && mtimeMs === seen.mtimeMs;
  }

  #next(maxBytes: number): { stat: Stats; restarted: boolean; bytes: Buffer } | null {
    const opened = openRegular(this.path);
    this.#obstacle = opened.kind === 'unreadable' ? opened.reason : null;
    if (opened.kind !== 'file') return null;
    const { descriptor, stat } = opened;
    try {
      const restarted = this.#seen !== null && this.#offset > 0 && !this.#isSameFile(descriptor, stat);
      if (restarted) this.#forget();
      const wanted = Math.max(0, Math.min(stat.size - this.#offset, Math.max(maxBytes, this.#window)));
      return { stat, restarted, bytes: readAt(descriptor, this.#offset, wanted) };
    } catch (error) {
      // A network file system may fail one read (ESTALE, EIO); the next look tries again.
      const failed = obstacleOf(error);
      this.#obstacle = failed.kind === 'unreadable' ? failed.reason : null;
      return null;
    } finally {
      closeSync(descriptor);
    }
  }

  #isSameFile(descriptor: number, stat: Stats): boolean {
    if (stat.ino !== this.#seen?.ino || stat.dev !== this.#seen.dev) return false;
    if (stat.size < this.#offset) return false;
    const anchorAt = this.#offset - this.#anchor.length;
    return holds(descriptor, 0, this.#head) && holds(descriptor, anchorAt, this.#anchor);
  }

  #forget(): void {
    this.#offset = 0;
    this.#window = 0;
    this.#more = false;
    this.#head = none;
    this.#anchor = none;
  }

  #moveOn(bytes: Buffer, done: number): void {
    if (done === 0) return;
    const passed = bytes.subarray(0, done);
    if (this.#head.length < SAMPLE)
      this.#head = Buffer.concat([this.#head, passed.subarray(0, SAMPLE - this.#head.length)]);
    // A copy: a part of what was read would keep all of it.
    this.#anchor = Buffer.from(Buffer.concat([this.#anchor, passed.subarray(-SAMPLE)]).subarray(-SAMPLE));
    this.#offset += done;
  }
}

function readAt(descriptor: number, position: number, wanted: number): Buffer {
  const bytes = Buffer.allocUnsafe(wanted);
  let length = 0;
  while (length < wanted) {
    const got = readSync(descriptor, bytes, length, wanted - length, position + length);
    if (got === 0) break;
    length += got;
  }
  return bytes.subarray(0, length);
}

function holds(descriptor: number, position: number, expected: Buffer): boolean {
  return expected.length === 0 || readAt(descriptor, position, expected.length).equals(expected);
}
