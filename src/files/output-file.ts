/**
 * Writes to a path that the user has given, like the `>` of a shell: through links, and into pipes and devices, which stay what
 * they are. A regular file is replaced atomically, so that no reader sees half of it, and keeps its mode and its owner.
 */
import { closeSync, constants, fchmodSync, fchownSync, fstatSync, ftruncateSync, lstatSync } from 'node:fs';
import { openSync, readlinkSync, realpathSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pid } from 'node:process';
import { UserError } from '../base/user-error.js';
import { obstacleOf } from './regular-file.js';
import { openFresh } from './whole-file.js';

/**
 * Lets `write` write a whole output to a descriptor, and returns its result. Waits for the reader of a named pipe. Where no draft
 * can be created beside a file (another user's folder, a file with several names, a mounted one), the file itself is written to.
 *
 * @param place The path as an absolute one; messages name `path`.
 * @throws {UserError} When the system refuses.
 */
export function writeOutput<T>(path: string, write: (descriptor: number) => T, place = resolve(path)): T {
  try {
    const there = openThere(place);
    if (there === null) return replaced(missingTarget(place), null, write);
    const before = fstatSync(there);
    const isKept = !before.isFile() || opened.test(place);
    return isKept ? filled(there, write) : replaced(realpathSync(place), { ...before, there }, write);
  } catch (cause) {
    throw unwritable(path, cause, 'Name a file that you may write, or make room for it.');
  }
}

/** Like `writeOutput`, for one text. */
export function writeOutputText(path: string, text: string | Uint8Array, place = resolve(path)): void {
  writeOutput(path, (descriptor) => writeFileSync(descriptor, text), place);
}

/** An error of the system as a UserError that names the path; any other error as it is. */
export function unwritable(path: string, cause: unknown, fix: string): unknown {
  if ((cause as NodeJS.ErrnoException).code === undefined) return cause;
  const obstacle = obstacleOf(cause);
  const why = obstacle.kind === 'absent' ? 'its folder is not there' : obstacle.reason;
  return new UserError(`Cannot write ${path}: ${why}.`, fix, { cause });
}

/** Paths of descriptors that a shell has already opened, perhaps for appending. */
const opened = /^\/(dev\/(stdout|stderr|fd\/)|proc\/)/;

/**
 * Opens what exists at the path; null: nothing does. Also for a file that is replaced, as a user who may not write to it may not
 * replace it.
 */
function openThere(path: string): number | null {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOCTTY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The path at which an open would create a missing file: the target of links, if there are any. */
function missingTarget(path: string): string {
  const place = join(realpathSync(dirname(path)), basename(path));
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? missingTarget(resolve(dirname(place), readlinkSync(place))) : place;
}

/** The file that is replaced, and a descriptor of it. */
type Before = Pick<Stats, 'uid' | 'gid' | 'mode' | 'dev' | 'nlink'> & { readonly there: number };

function replaced<T>(target: string, before: Before | null, write: (descriptor: number) => T): T {
  const draft = `${target}.${pid}.part`;
  const descriptor = openDraft(draft, before);
  if (descriptor === null) return filled(before?.there ?? openFresh(target, 0o666), write, before !== null);
  try {
    const result = filled(descriptor, write);
    renameSync(draft, target);
    return result;
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    if (before !== null) closeSync(before.there);
  }
}

/** Creates a draft that can replace the file; null: that is not possible. */
function openDraft(draft: string, before: Before | null): number | null {
  if (before !== null && (before.nlink > 1 || before.dev !== statSync(dirname(draft)).dev)) return null;
  let descriptor: number;
  try {
    descriptor = openFresh(draft, 0o666);
  } catch (error) {
    if (!noDraft.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return null;
  }
  try {
    if (before !== null) takeAfter(before, descriptor);
    return descriptor;
  } catch {
    closeSync(descriptor);
    rmSync(draft, { force: true });
    return null;
  }
}

/** Errors that only concern the draft: the file may be writable where none can be created beside it. */
const noDraft: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG']);

/** Copies owner, then mode, in this order, as a change of owner clears bits of the mode. */
function takeAfter({ uid, gid, mode }: Before, descriptor: number): void {
  const own = fstatSync(descriptor);
  if (own.uid !== uid || own.gid !== gid) fchownSync(descriptor, uid, gid);
  fchmodSync(descriptor, mode & 0o7777);
}

function filled<T>(descriptor: number, write: (descriptor: number) => T, isCutFirst = false): T {
  try {
    if (isCutFirst) ftruncateSync(descriptor);
    return write(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
