import { lstatSync, type Stats } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { textOrNull } from '../regular-file.js';

/** Of a list of some hundred thousand checkpoints, bytes. A larger one is not read. */
const LARGEST = 16 << 20;
/** Keys whose values are places: `state_path`, `sampler_path`, `checkpoint`. */
const placeKey = /(path|file|dir|directory|folder|checkpoint|ckpt)$/i;

/** A row of `checkpoints.jsonl`: what it names that is there, relative to the run's directory, by key. */
export type CheckpointRow = ReadonlyMap<string, string>;

/**
 * The rows of a run's `checkpoints.jsonl`, oldest first, as far as they name something below its directory that is there.
 *
 * @param cwd Where the program ran: paths may be relative to that. Null: not known.
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

/** The place relative to the run's directory; null: it is elsewhere, or nothing is there. */
function pathBelow(directory: string, cwd: string | null, value: string): string | null {
  const roots = isAbsolute(value) || cwd === null ? [directory] : [directory, cwd];
  for (const root of roots) {
    const path = relative(directory, resolve(root, value));
    if (entryBelow(directory, path) !== null) return path;
  }
  return null;
}

/**
 * What stands at a path strictly below a directory; null when it leads out of it, over a link or to one, to something that is
 * neither a file nor a folder, or to nothing.
 *
 * @param path Relative.
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
    // Nothing is there; or a folder that may not be entered, or a name that is too long.
    return null;
  }
}
