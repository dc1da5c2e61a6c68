import { basename } from 'node:path';
import type { FollowedBytes, Look } from '../../files/followed-bytes.js';
import type { SourceReader } from './format.js';

/** A follower of a growing file, in bytes or in lines. */
type Followed = Readonly<Pick<FollowedBytes, 'path' | 'offset' | 'written' | 'obstacle'>>;

/** The result of a read. `restarted`: the file was replaced. */
export type Change = 'restarted' | 'more' | 'nothing';

/** Follows one file: its reading position, and what is not readable. The format interprets its bytes. */
export abstract class FollowedSource<File extends Followed> implements Omit<SourceReader, 'read'> {
  protected readonly file: File;
  /** Whether another read would return more at once. */
  more = false;

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

  get obstacle(): string | null {
    const { obstacle, path } = this.file;
    return obstacle === null ? this.loss : `${basename(path)} cannot be read: ${obstacle}`;
  }

  /** What is left out of a readable file, in words that name the file; null: nothing. */
  protected get loss(): string | null {
    return null;
  }

  /** Reads the file and records the result. */
  protected follow(read: (file: File) => Look): Change {
    const { offset } = this.file;
    const { restarted, more } = read(this.file);
    this.more = more;
    if (restarted) return 'restarted';
    return this.file.offset > offset ? 'more' : 'nothing';
  }
}
