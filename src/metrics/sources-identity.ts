import { type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { isSettledTime } from '../files/file-system-time.js';
import { statRegular } from '../files/regular-file.js';
import type { Detection, FoundSource } from './detection.js';

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
  for (const source of sources) {
    files.push(source.id);
    for (const path of pathsOf(source)) {
      const there = statRegular(path);
      if (there.kind === 'unreadable') return null;
      if (there.kind === 'absent') continue;
      files.push([path, ...stateIn(there.stat)]);
      bytes += there.stat.size;
      writtenAt = Math.max(writtenAt, there.stat.mtimeMs);
    }
  }
  return { text: JSON.stringify(files), bytes, writtenAt };
}

/** Limit on the files and folders of a run that are looked at in place of a search. */
const MOST_PATHS = 64;

/**
 * Paths from whose states it can be told, without a search, that a run has the sources that were found, with the same content; null:
 * they are too many.
 */
export function decidingPaths({ sources, looksAt }: Pick<Detection, 'sources' | 'looksAt'>): readonly string[] | null {
  const paths = [...new Set([...looksAt, ...sources.flatMap(pathsOf)])];
  return paths.length > MOST_PATHS ? null : paths;
}

/** The present state of files and folders. Null: one may change within the time that it has now, or cannot be looked at. */
export function stateOf(paths: readonly string[]): string | null {
  try {
    const stats = paths.map((path) => statSync(path, { throwIfNoEntry: false }));
    if (!stats.every((stat) => stat === undefined || isSettledTime(stat.mtimeMs))) return null;
    return JSON.stringify(stats.map((stat) => stat && stateIn(stat)));
  } catch {
    return null;
  }
}

function pathsOf({ format, paths }: FoundSource): string[] {
  const besides = (path: string) => (format.besides?.(basename(path)) ?? []).map((ending) => path + ending);
  const all = paths.flatMap((path) => [path, ...besides(path), ...(format.readsToo?.(path) ?? [])]);
  return [...new Set(all)];
}

function stateIn({ dev, ino, size, mtimeMs, ctimeMs }: Stats): number[] {
  return [dev, ino, size, mtimeMs, ctimeMs];
}
