import { closeSync, readSync, type Stats } from 'node:fs';
import { sizeText } from '../text/numbers.js';
import { isSettledTime } from './file-system-time.js';
import { obstacleOf, openRegular, statRegular } from './regular-file.js';

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

/** How much of the given bytes was consumed. `needs`: number of bytes needed to consume any; 0: any number. */
export type Taken = { done: number; needs: number };

/**
 * Consumes the beginning of the file's next bytes; the rest is passed again. `isNew`: the file is another one, or was rewritten,
 * and the bytes begin at its start. `idleMs`: time since the last write.
 */
export type Taker = (bytes: Buffer, look: { isNew: boolean; idleMs: number }) => Taken;

/**
 * The result of a read. `more`: whether a further `read` would return more at once. `isReopened`: the same file was restarted, as a
 * program does that opens it anew.
 */
export type Look = { restarted: boolean; more: boolean; isReopened: boolean };

/** Number of bytes compared at the start of the file and before the offset, to notice a file that was rewritten in place. */
const SAMPLE = 256;
const unchanged: Look = { restarted: false, more: false, isReopened: false };

/**
 * Follows one growing file by path, and passes on what was added since the last look.
 *
 * Keeps an offset and two samples, not the content. A file counts as the same while device and inode are the same, it has not
 * shrunk below the offset, and its first bytes and those before the offset are unchanged; otherwise (truncated, replaced by rename,
 * rewritten in place) it is read again from its start. While it is missing, nothing changes.
 */
export class FollowedBytes {
  readonly path: string;
  readonly #largest: number;
  #offset = 0;
  #head: Buffer = none;
  readonly #anchor = new Anchor();
  #seen: Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs' | 'birthtimeMs'> | null = null;
  #settled = false;
  #more = false;
  #window = 0;
  #obstacle: string | null = null;

  /** @param largest Of a file that is rewritten as a whole: size limit in bytes, above which it is not read. */
  constructor(path: string, largest = Infinity) {
    this.path = path;
    this.#largest = largest;
  }

  /** Why the last look failed, in words: the file is a pipe, the disk reports an error. Null: it succeeded, or there is no file. */
  get obstacle(): string | null {
    return this.#obstacle;
  }

  /** Number of bytes that have been consumed. */
  get offset(): number {
    return this.#offset;
  }

  /** Whether the file had more bytes at the last read than have been consumed. */
  get isBehind(): boolean {
    return this.#seen !== null && this.#offset < this.#seen.size;
  }

  /** Time of creation and last modification at the last read, Unix ms; null: there was no file. */
  get written(): { from: number; to: number } | null {
    return this.#seen === null ? null : { from: this.#seen.birthtimeMs, to: this.#seen.mtimeMs };
  }

  /** Makes the next read look at the file even if nothing was written to it. */
  lookAgain(): void {
    this.#settled = false;
  }

  /** Makes the next read begin at the start of the file. */
  rewind(): void {
    this.#forget();
    this.#settled = false;
  }

  /**
   * Passes new bytes to `take`, which is not called when there are none.
   *
   * @param maxBytes Limit on the bytes read from the file in this call; exceeded only if `take` needs more.
   */
  read(maxBytes: number, take: Taker): Look {
    const change = this.#change();
    const found = change === 'none' ? null : this.#next(maxBytes, change === 'written');
    if (found === null) return unchanged;
    const { stat, restarted, bytes } = found;
    const { done, needs } = take(bytes, { isNew: restarted, idleMs: Date.now() - stat.mtimeMs });
    this.#moveOn(bytes, done);
    const { dev, ino, size, mtimeMs, birthtimeMs } = stat;
    const isReopened = restarted && ino === this.#seen?.ino && dev === this.#seen.dev;
    this.#seen = { dev, ino, size, mtimeMs, birthtimeMs };
    this.#settled = isSettledTime(mtimeMs);
    this.#window = done > 0 ? 0 : needs;
    const hasMore = this.#offset - done + bytes.length < size;
    this.#more = hasMore && (done > 0 || needs > bytes.length);
    return { restarted, more: this.#more, isReopened };
  }

  /** What the file's times and size tell; `unknown`: it must be read. */
  #change(): 'none' | 'written' | 'unknown' {
    const seen = this.#seen;
    if (seen === null || this.#more || !this.#settled) return 'unknown';
    const there = statRegular(this.path);
    // Opening it will give the reason.
    if (there.kind === 'unreadable') return 'unknown';
    if (there.kind === 'absent') return 'none';
    const { ino, dev, size, mtimeMs } = there.stat;
    const isSame = ino === seen.ino && dev === seen.dev && size === seen.size && mtimeMs === seen.mtimeMs;
    return isSame ? 'none' : 'written';
  }

  #next(maxBytes: number, isSeen: boolean): { stat: Stats; restarted: boolean; bytes: Buffer } | null {
    const opened = openRegular(this.path, { isSeen });
    this.#obstacle = opened.kind === 'unreadable' ? opened.reason : null;
    if (opened.kind !== 'file') return null;
    const { descriptor, stat } = opened;
    try {
      if (stat.size > this.#largest) return this.#refuse(stat.size);
      const wanted = Math.max(maxBytes, this.#window);
      const bytes = this.#offset === 0 ? null : this.#continue(descriptor, stat, wanted);
      if (bytes !== null) return { stat, restarted: false, bytes };
      const restarted = this.#offset > 0;
      if (restarted) this.#forget();
      return { stat, restarted, bytes: readAt(descriptor, 0, Math.min(stat.size, wanted)) };
    } catch (error) {
      // A network file system may fail one read (ESTALE, EIO); the next look tries again.
      const failed = obstacleOf(error);
      this.#obstacle = failed.kind === 'unreadable' ? failed.reason : null;
      return null;
    } finally {
      closeSync(descriptor);
    }
  }

  #refuse(size: number): null {
    this.#obstacle = `it has ${sizeText(size)}, and is left out above ${sizeText(this.#largest)}`;
    return null;
  }

  /**
   * The bytes after the offset; null: it is another file than before, which a part before the offset, from the same read, shows.
   */
  #continue(descriptor: number, stat: Stats, wanted: number): Buffer | null {
    if (stat.ino !== this.#seen?.ino || stat.dev !== this.#seen.dev || stat.size < this.#offset) return null;
    const { length } = this.#anchor;
    const bytes = readAt(descriptor, this.#offset - length, length + Math.min(stat.size - this.#offset, wanted));
    const isSame = this.#anchor.begins(bytes) && holds(descriptor, 0, this.#head);
    return isSame ? bytes.subarray(length) : null;
  }

  #forget(): void {
    this.#offset = 0;
    this.#window = 0;
    this.#more = false;
    this.#head = none;
    this.#anchor.forget();
  }

  #moveOn(bytes: Buffer, done: number): void {
    if (done === 0) return;
    const passed = bytes.subarray(0, done);
    if (this.#head.length < SAMPLE)
      this.#head = Buffer.concat([this.#head, passed.subarray(0, SAMPLE - this.#head.length)]);
    this.#anchor.moveOver(passed);
    this.#offset += done;
  }
}

/** The last bytes before the offset, as a copy, since a slice would keep the whole read buffer in memory. */
class Anchor {
  readonly #bytes = Buffer.alloc(SAMPLE);
  length = 0;

  forget(): void {
    this.length = 0;
  }

  moveOver(passed: Buffer): void {
    const added = passed.subarray(-SAMPLE);
    const kept = Math.min(this.length, SAMPLE - added.length);
    this.#bytes.copyWithin(0, this.length - kept, this.length);
    added.copy(this.#bytes, kept);
    this.length = kept + added.length;
  }

  /** Whether these bytes begin with the stored ones. */
  begins(bytes: Buffer): boolean {
    return bytes.length >= this.length && bytes.compare(this.#bytes, 0, this.length, 0, this.length) === 0;
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
