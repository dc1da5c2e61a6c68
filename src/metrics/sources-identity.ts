import { basename } from 'node:path';
import { statRegular } from '../files/regular-file.js';
import type { FoundSource } from './detection.js';

/** Which files metrics are read from, as they are now. The same `text` means the same content, whoever looks. */
export type SourcesIdentity = {
  readonly text: string;
  /** Of all files. */
  readonly bytes: number;
  /** The latest time at which one was written, Unix ms. */
  readonly writtenAt: number;
};

/**
 * By device, inode, size and times of each file and of those that belong to it. The time of change is among them: nobody can set
 * it, so a file that was rewritten with the same size and its old date is another one. Null: something stands in the way of one.
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
