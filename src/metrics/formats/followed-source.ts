import { basename } from 'node:path';
import type { FollowedBytes, Look } from '../../files/followed-bytes.js';
import type { SourceReader } from './format.js';

/** What follows a growing file, in bytes or in lines. */
type Followed = Readonly<Pick<FollowedBytes, 'path' | 'offset' | 'written' | 'obstacle'>>;

/** What a read of the file amounted to. `restarted`: it is another file than before. */
export type Change = 'restarted' | 'more' | 'nothing';

/** Follows one file: how far it has been read, and what of it cannot be. What its bytes mean is up to the format. */
export abstract class FollowedSource<File extends Followed> implements Omit<SourceReader, 'read'> {
  protected readonly file: File;
  /** Whether another read would tell more at once. */
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

  /** What of a file that can be read is left out, in words that name it; null: nothing. */
  protected get loss(): string | null {
    return null;
  }

  /** Takes note of a read of the file. */
  protected follow(read: (file: File) => Look): Change {
    const { offset } = this.file;
    const { restarted, more } = read(this.file);
    this.more = more;
    if (restarted) return 'restarted';
    return this.file.offset > offset ? 'more' : 'nothing';
  }
}
