import { basename } from 'node:path';
import { statRegular } from '../files/regular-file.js';
import type { FoundSource } from './detection.js';

/** The state of the files that metrics are read from. An equal `text` means equal content, whichever process computed it. */
export type SourcesIdentity = {
  readonly text: string;
  /** Total size of all files. */
  readonly bytes: number;
  /** The latest modification time, Unix ms. */
  readonly writtenAt: number;
};

/**
 * Made of device, inode, size and times of each file and of those that belong to it. It includes the ctime, which programs cannot
 * set, so a file that was rewritten with the same size and its old mtime is recognised as another one. Null: a file is not
 * readable.
 */
export function identityOf(sources: readonly FoundSource[]): SourcesIdentity | null {
  const files: unknown[] = [];
  let [bytes, writtenAt] = [0, 0];
  for (const { id, format, paths } of sources) {
    files.push(id);
    const besides = (path: string) => (format.besides?.(basename(path)) ?? []).map((ending) => path + ending);
    for (const path of paths.flatMap((each) => [each, ...besides(each)])) {
      const there = statRegular(path);
      if (there.kind === 'unreadable') return null;
      if (there.kind === 'absent') continue;
      const { dev, ino, size, mtimeMs, ctimeMs } = there.stat;
      files.push([path, dev, ino, size, mtimeMs, ctimeMs]);
      bytes += size;
      writtenAt = Math.max(writtenAt, mtimeMs);
    }
  }
  return { text: JSON.stringify(files), bytes, writtenAt };
}
