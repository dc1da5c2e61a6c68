/**
 * Deleting parts of a run's directory in two steps. What is to go is first given another name beside its own, in a moment in
 * which the run cannot be started; then it is deleted, which may take its time. Whoever is interrupted leaves what was not
 * touched as it was, and names that say that they are to be deleted.
 */
import { linkSync, lstatSync, readdirSync, renameSync, type Stats } from 'node:fs';
import { basename, dirname, join, normalize, sep } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { lastClaimed } from '../completion-facts.js';
import { readRunRecord } from '../run-record-file.js';
import { entryBelow } from './checkpoint-paths.js';

const prefix = '.memrl-deleted-';
/** Characters of a mark, which is chosen at random by whoever deletes. */
const MARK = 16;

/**
 * What of a run's directory is to go; `path`: relative to it. The file that was seen, or folder: what has come in its place since
 * is left alone. `replacement`: a file beside it that takes its place.
 */
export type Discard = {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly replacement?: string | undefined;
};

/** The file or folder as it is now, to be discarded; null: nothing is there that can be. */
export function discardOf(directory: string, path: string): Discard | null {
  const stat = entryBelow(directory, path);
  if (stat === null) return null;
  const { dev, ino, size, mtimeMs } = stat;
  return { path, dev, ino, size, mtimeMs };
}

/** The path that something has once it is set aside. */
export function pathAside(path: string, mark: string, place: number): string {
  return join(dirname(path), `${prefix}${mark}-${place}`);
}

/** A name for a file that is to take the place of another, beside it. */
export function replacementName(mark: string): string {
  return `${prefix}${mark}-new`;
}

/**
 * Gives it the name by which it is deleted; false where it is no longer what it was. At once, whatever its size.
 *
 * @throws What the system says.
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
  // The old one keeps a name, so that its blocks are not given back here and now.
  linkSync(from!, to!);
  renameSync(join(directory, next), from!);
  return true;
}

/** The same for the whole directory of a run; false where it is none, or a link to one. @throws What the system says. */
export function setRunAside(directory: string, mark: string): boolean {
  if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  renameSync(directory, runAside(directory, mark));
  return true;
}

/** The path that the directory of a run has once it is set aside. */
export function runAside(directory: string, mark: string): string {
  return join(dirname(directory), `${prefix}${mark}-${basename(directory)}`);
}

/** What an interrupted deletion left in these folders, and of the whole run beside its directory; paths. */
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
 * What always stays: what says which run it is, how it ended and what it found.
 *
 * @param doneFile The file that says that the run is done; null: its exit code does.
 */
export function keptPaths(directory: string, doneFile: string | null): string[] {
  const { record, annotation, config, metrics, checkpoints, attempts } = runFiles;
  const last = Math.max(
    lastClaimed(directory),
    ...(readRunRecord(directory)?.attempts ?? []).map(({ number }) => number),
  );
  const files = [record, annotation, config, metrics, checkpoints, join(attempts, String(last))];
  return doneFile === null ? files : [...files, normalize(doneFile)];
}

/** Whether one is the other, or has it below. */
export function overlaps(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}${sep}`) || other.startsWith(`${one}${sep}`);
}

function isSame(stat: Stats, { dev, ino, size, mtimeMs }: Discard): boolean {
  return stat.dev === dev && stat.ino === ino && stat.size === size && stat.mtimeMs === mtimeMs;
}
