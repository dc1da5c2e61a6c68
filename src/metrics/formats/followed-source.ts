import { basename } from 'node:path';
import type { FollowedBytes, Look } from '../../files/followed-bytes.js';
import type { SourceReader } from './format.js';

/** A follower of a growing file, in bytes or in lines. */
type Followed = Readonly<Pick<FollowedBytes, 'path' | 'offset' | 'written' | 'obstacle' | 'isBehind'>> & {
  lookAgain?: () => void;
};

/** What is still wrong in a file after this time, ms, is damage: network file systems show partial writes. */
export const DAMAGED_MS = 30_000;

/** Follows one file: its reading position, and what is not readable. The format interprets its bytes. */
export abstract class FollowedSource<File extends Followed> implements Omit<SourceReader, 'read'> {
  protected readonly file: File;
  /** Whether another read would return more at once. */
  more = false;
  /** Offset of the first bytes that could not be read, and the time at which they were seen, ms. */
  #doubt: { offset: number; since: number } | null = null;
  #damage: string | null = null;

  constructor(file: File) {
    this.file = file;
  }

  get offset(): number {
    return this.file.offset;
  }

  get written(): File['written'] {
    return this.file.written;
  }

  get isHindered(): boolean {
    return this.file.obstacle !== null;
  }

  get isWaiting(): boolean {
    return this.file.isBehind;
  }

  get obstacle(): string | null {
    const { obstacle, path } = this.file;
    return obstacle === null ? this.loss : `${basename(path)} cannot be read: ${obstacle}`;
  }

  /** What is left out of a readable file, in words that name the file; null: nothing. */
  protected get loss(): string | null {
    return this.#damage;
  }

  /** Reads the file; returns true if anything changed. */
  protected follow(read: (file: File) => Look): boolean {
    const { offset } = this.file;
    const { restarted, more } = read(this.file);
    this.more = more;
    return restarted || this.file.offset > offset;
  }

  /**
   * Whether the bytes at an offset that cannot be read may be half of a write. If not, the file is damaged there.
   *
   * @param words The words for what becomes of the rest of the file.
   */
  protected isStillWritten(offset: number, idleMs: number, words: string): boolean {
    if (this.#doubt?.offset !== offset) this.#doubt = { offset, since: performance.now() };
    if (idleMs <= DAMAGED_MS && performance.now() - this.#doubt.since <= DAMAGED_MS) {
      this.file.lookAgain?.();
      return true;
    }
    this.#damage = `${basename(this.file.path)} is damaged at byte ${offset}: ${words}`;
    return false;
  }

  /** Forgets what was wrong, as the file is another one. */
  protected forget(): void {
    this.#doubt = null;
    this.#damage = null;
  }
}
