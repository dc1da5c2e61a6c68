import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { entryBelow, readCheckpointRows } from '../../files/disk/checkpoint-paths.js';
import { overlaps } from '../../files/disk/discard.js';
import { readRunRecord } from '../../files/run-record-file.js';
import { naturalOrder } from '../../text/natural-order.js';

/**
 * `keep`: number of the last checkpoints to keep, at least one. `pattern`: their paths, for a program without `checkpoints.jsonl`.
 */
export type Pruning = { readonly keep: number; readonly pattern: string | null };

/** Unneeded and kept checkpoints; relative paths. */
export type Checkpoints = { readonly prunable: readonly string[]; readonly kept: readonly string[] };

/**
 * The checkpoints of a run, by its `checkpoints.jsonl`, or else by the pattern. Of the list, the last rows are kept, and the last
 * value of each key (a program resumes from the last row with a `state_path`); of the pattern, those that were written last; and
 * the target of any link in the run's directory.
 */
export function checkpointsOf(directory: string, { keep, pattern }: Pruning): Checkpoints {
  const listed = listedOf(directory, keep);
  const found = pattern === null ? [] : matching(directory, pattern);
  const stay = found.slice(-keep);
  const kept = [...new Set([...listed.kept, ...stay, ...linkTargets(directory)])];
  const candidates = [...new Set([...listed.earlier, ...found.slice(0, -keep)])];
  return { prunable: candidates.filter((path) => !kept.some((other) => overlaps(path, other))), kept };
}

function listedOf(directory: string, keep: number): { earlier: string[]; kept: string[] } {
  const rows = readCheckpointRows(directory, readRunRecord(directory)?.cwd ?? null);
  const last = rows.slice(-keep).flatMap((row) => [...row.values()]);
  const byKey = new Map(rows.flatMap((row) => [...row]));
  return { earlier: rows.slice(0, -keep).flatMap((row) => [...row.values()]), kept: [...last, ...byKey.values()] };
}

/** Matching files and folders, the last written one at the end. `*` and `?` match within one name. */
function matching(directory: string, pattern: string): string[] {
  let paths = [''];
  for (const part of pattern.split('/').filter((name) => name !== '' && name !== '.')) {
    const test = new RegExp(
      `^${part
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replaceAll('*', '[^]*')
        .replaceAll('?', '[^]')}$`,
    );
    paths = paths.flatMap((path) =>
      namesIn(join(directory, path))
        .filter((name) => test.test(name) && (!name.startsWith('.') || part.startsWith('.')))
        .map((name) => (path === '' ? name : join(path, name)))
        .filter((each) => entryBelow(directory, each) !== null),
    );
  }
  const written = new Map(paths.map((path) => [path, lastWrite(join(directory, path))]));
  return paths.filter((path) => path !== '').sort((a, b) => written.get(a)! - written.get(b)! || naturalOrder(a, b));
}

/** Modification time of the newest file in it, ms. */
function lastWrite(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return namesIn(path).reduce((latest, name) => Math.max(latest, lastWrite(join(path, name))), 0);
}

/** Targets of links, with which programs mark their last or best checkpoint. */
function linkTargets(directory: string): string[] {
  const folders = ['', ...namesIn(directory).filter((name) => entryBelow(directory, name)?.isDirectory() === true)];
  const links = folders.flatMap((folder) => namesIn(join(directory, folder)).map((name) => join(folder, name)));
  return links.flatMap((path) => {
    try {
      if (!lstatSync(join(directory, path)).isSymbolicLink()) return [];
      const target = relative(realpathSync(directory), realpathSync(join(directory, path)));
      return target === '' || target.startsWith(`..${sep}`) ? [] : [target];
    } catch {
      // The link is dangling.
      return [];
    }
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
