/**
 * Writing at a path that a person has given, as the `>` of a shell does: through links, into pipes and devices, which stay what
 * they are. A regular file is replaced in one step, so that nobody sees half of it, and keeps its mode and its owner.
 */
import { closeSync, constants, fchmodSync, fchownSync, fstatSync, ftruncateSync, lstatSync } from 'node:fs';
import { openSync, readlinkSync, realpathSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pid } from 'node:process';
import { UserError } from '../base/user-error.js';
import { obstacleOf } from './regular-file.js';
import { openFresh } from './whole-file.js';

/**
 * Has `write` write all of an output to a descriptor, and gives what it gives. Waits for the reader of a named pipe. Where no
 * draft can stand beside a file (a folder that is not ours, a file with several names, one that is mounted), the file itself is
 * written to.
 *
 * @throws {UserError} When the system refuses.
 */
export function writeOutput<T>(path: string, write: (descriptor: number) => T): T {
  try {
    const there = openThere(path);
    if (there === null) return replaced(missingTarget(resolve(path)), null, write);
    const before = fstatSync(there);
    const isKept = !before.isFile() || opened.test(resolve(path));
    return isKept ? filled(there, write) : replaced(realpathSync(path), { ...before, there }, write);
  } catch (cause) {
    throw unwritable(path, cause, 'Name a file that you may write, or make room for it.');
  }
}

/** As `writeOutput`, of one text. */
export function writeOutputText(path: string, text: string | Uint8Array): void {
  writeOutput(path, (descriptor) => writeFileSync(descriptor, text));
}

/** What the system refused, in words for the person who has named the path; any other error as it is. */
export function unwritable(path: string, cause: unknown, fix: string): unknown {
  if ((cause as NodeJS.ErrnoException).code === undefined) return cause;
  const obstacle = obstacleOf(cause);
  const why = obstacle.kind === 'absent' ? 'its folder is not there' : obstacle.reason;
  return new UserError(`Cannot write ${path}: ${why}.`, fix, { cause });
}

/** Names of what a shell has opened already, maybe to add to it. */
const opened = /^\/(dev\/(stdout|stderr|fd\/)|proc\/)/;

/** Null: nothing is there. Also of what is to be replaced: who may not write to a file may not replace it. */
function openThere(path: string): number | null {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOCTTY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Where a file is made by whoever opens a path at which there is none: where the links lead, if there are any. */
function missingTarget(path: string): string {
  const place = join(realpathSync(dirname(path)), basename(path));
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? missingTarget(resolve(dirname(place), readlinkSync(place))) : place;
}

/** What is replaced, and a descriptor of it. */
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

/** A draft that can take the place of the file; null: there can be none. */
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

/** Says nothing of the file itself: it may be written where nothing may be made beside it. */
const noDraft: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG']);

/** In this order: who gives a file away takes bits of its mode. */
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
