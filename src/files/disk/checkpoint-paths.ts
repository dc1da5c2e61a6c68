import { lstatSync, type Stats } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { textOrNull } from '../regular-file.js';

/** Size limit in bytes, for some hundred thousand checkpoints. A larger file is not read. */
const LARGEST = 16 << 20;
/** Keys whose values are paths: `state_path`, `sampler_path`, `checkpoint`. */
const placeKey = /(path|file|dir|directory|folder|checkpoint|ckpt)$/i;

/** A row of `checkpoints.jsonl`: the existing files that it names, relative to the run's directory, by key. */
type CheckpointRow = ReadonlyMap<string, string>;

/**
 * The rows of a run's `checkpoints.jsonl`, oldest first, that name an existing file below its directory.
 *
 * @param cwd The program's working directory, which paths may be relative to. Null: unknown.
 */
export function readCheckpointRows(directory: string, cwd: string | null): CheckpointRow[] {
  const text = textOrNull(join(directory, runFiles.checkpoints), LARGEST);
  const rows = (text ?? '').split('\n').map(parseJsonLine);
  return rows.flatMap((row) => {
    if (row === null) return [];
    const places = Object.entries(row).flatMap(([key, value]): [string, string][] => {
      const path = placeKey.test(key) && typeof value === 'string' ? pathBelow(directory, cwd, value) : null;
      return path === null ? [] : [[key, path]];
    });
    return places.length === 0 ? [] : [new Map(places)];
  });
}

/** The path relative to the run's directory; null: it is outside, or does not exist. */
function pathBelow(directory: string, cwd: string | null, value: string): string | null {
  const roots = isAbsolute(value) || cwd === null ? [directory] : [directory, cwd];
  for (const root of roots) {
    const path = relative(directory, resolve(root, value));
    if (entryBelow(directory, path) !== null) return path;
  }
  return null;
}

/**
 * The stat of a path strictly below a directory; null if it leads out of it, passes or ends at a link, is neither a file nor a
 * folder, or does not exist.
 *
 * @param path Relative to the directory.
 */
export function entryBelow(directory: string, path: string): Stats | null {
  const parts = path.split(sep);
  if (isAbsolute(path) || parts.some((part) => part === '' || part === '.' || part === '..')) return null;
  const places = parts.map((_, index) => join(directory, ...parts.slice(0, index + 1)));
  try {
    const stats = places.map((place) => lstatSync(place));
    const last = stats.at(-1)!;
    const isReached = stats.slice(0, -1).every((stat) => stat.isDirectory());
    return isReached && (last.isDirectory() || last.isFile()) ? last : null;
  } catch {
    // The path does not exist, a folder is not accessible, or a name is too long.
    return null;
  }
}
