/**
 * Deletes parts of a run's directory in two steps. First each part is renamed beside its place, in a moment in which the run cannot
 * start; then it is deleted, which may take long. An interrupted deletion leaves other files untouched, and names that mark what
 * has to be deleted.
 */
import { linkSync, lstatSync, readdirSync, renameSync, type Stats } from 'node:fs';
import { basename, dirname, join, normalize, sep } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { lastClaimed } from '../run-directory/completion-facts.js';
import { readRunRecord } from '../run-directory/run-record-file.js';
import { entryBelow } from './checkpoint-paths.js';

const prefix = '.memrl-deleted-';
/** Length of a mark, which is chosen at random for each deletion. */
const MARK = 16;

/**
 * A part of a run's directory that is to be deleted; `path` is relative to it. The other fields identify the file or folder that
 * was seen: anything that has taken its place since is left alone. `replacement`: a file beside it that takes its place.
 */
export type Discard = {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly replacement?: string | undefined;
};

/** Identifies a file or folder for its deletion; null: nothing deletable is there. */
export function discardOf(directory: string, path: string): Discard | null {
  const stat = entryBelow(directory, path);
  if (stat === null) return null;
  const { dev, ino, size, mtimeMs } = stat;
  return { path, dev, ino, size, mtimeMs };
}

/** The path of a part after it was set aside. */
export function pathAside(path: string, mark: string, place: number): string {
  return join(dirname(path), `${prefix}${mark}-${place}`);
}

/** A name for the replacement of a file, beside it. */
export function replacementName(mark: string): string {
  return `${prefix}${mark}-new`;
}

/**
 * Renames a part for its deletion; false if it is no longer the same. Fast, whatever its size.
 *
 * @throws The error of the operating system.
 */
export function setAside(directory: string, discard: Discard, mark: string, place: number): boolean {
  const stat = entryBelow(directory, discard.path);
  if (stat === null || !isSame(stat, discard)) return false;
  const [from, to] = [discard.path, pathAside(discard.path, mark, place)].map((path) => join(directory, path));
  if (discard.replacement === undefined) {
    renameSync(from!, to!);
    return true;
  }
  const next = join(dirname(discard.path), discard.replacement);
  if (!discard.replacement.startsWith(prefix) || entryBelow(directory, next)?.isFile() !== true) return false;
  // The old file keeps a second name, so that its blocks are not freed here, which takes time.
  linkSync(from!, to!);
  renameSync(join(directory, next), from!);
  return true;
}

/** Renames the whole directory of a run; false if it is none, or a link to one. @throws The error of the operating system. */
export function setRunAside(directory: string, mark: string): boolean {
  if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  renameSync(directory, runAside(directory, mark));
  return true;
}

/** The path of a run's directory after it was set aside. */
export function runAside(directory: string, mark: string): string {
  return join(dirname(directory), `${prefix}${mark}-${basename(directory)}`);
}

/** Paths that an interrupted deletion left in these folders, and beside the run's directory. */
export function leftOver(directory: string, folders: readonly string[]): string[] {
  const sweep = dirname(directory);
  const own = leftIn(sweep).filter((name) => name.slice(prefix.length + MARK + 1) === basename(directory));
  const inside = folders.flatMap((folder) =>
    leftIn(join(directory, folder)).map((name) => join(directory, folder, name)),
  );
  return [...own.map((name) => join(sweep, name)), ...inside];
}

function leftIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.startsWith(prefix));
  } catch {
    return [];
  }
}

/**
 * Paths that are never deleted: they say which run it is, how it ended and what its results are.
 *
 * @param doneFile The file that shows that the run is done; null: its exit code does.
 */
export function keptPaths(directory: string, doneFile: string | null): string[] {
  const { record, annotation, usage, config, metrics, checkpoints, attempts } = runFiles;
  const last = Math.max(
    lastClaimed(directory),
    ...(readRunRecord(directory)?.attempts ?? []).map(({ number }) => number),
  );
  const files = [record, annotation, usage, config, metrics, checkpoints, join(attempts, String(last))];
  return doneFile === null ? files : [...files, normalize(doneFile)];
}

/** Whether two paths are equal, or one contains the other. */
export function overlaps(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}${sep}`) || other.startsWith(`${one}${sep}`);
}

function isSame(stat: Stats, { dev, ino, size, mtimeMs }: Discard): boolean {
  return stat.dev === dev && stat.ino === ino && stat.size === size && stat.mtimeMs === mtimeMs;
}
