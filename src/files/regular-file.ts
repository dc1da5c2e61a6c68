/**
 * Opens and reads files that others have created: a run, another program, a user.
 *
 * Such a file may be anything. Opening a FIFO waits for a writer, reading a device never ends, and `stat` has more errors than
 * absence (ELOOP, EACCES, ENOTDIR, ENAMETOOLONG, ESTALE, EIO). Here only regular files are opened, without waiting, and every
 * failure is a return value, so that a bad file never ends the program.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withSpareDescriptors } from './spare-descriptor.js';

/** `absent`: the file does not exist. `unreadable`: it does, and `reason` says in words why it cannot be read. */
export type Obstacle = { kind: 'absent' } | { kind: 'unreadable'; reason: string };

/** An open file; the caller closes the descriptor. */
type OpenedFile = { kind: 'file'; descriptor: number; stat: Stats };

/** The result for a missing file. Checking that a file exists is ten times as fast as catching the error. */
const absent: Obstacle = { kind: 'absent' };

type FileText = { kind: 'text'; text: string };

type FileBytes = { kind: 'bytes'; bytes: Buffer };

/**
 * Opens a regular file for reading. Never waits and never throws. Follows a symbolic link unless `noLink` forbids it. `isSeen`: the
 * caller has just found a regular file there with `statRegular`.
 */
export function openRegular(path: string, options?: OpenOptions): OpenedFile | Obstacle {
  try {
    return openOrThrow(path, options);
  } catch (error) {
    return obstacleOf(error);
  }
}

type OpenOptions = { noLink?: boolean; isSeen?: boolean };

/** @throws The error of the operating system. */
function openOrThrow(path: string, { noLink = false, isSeen = false }: OpenOptions = {}): OpenedFile | Obstacle {
  // Only regular files are opened, as opening a device may have an effect.
  const obstacle = isSeen ? null : standsInTheWay(path);
  if (obstacle !== null) return obstacle;
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (noLink ? constants.O_NOFOLLOW : 0);
  const descriptor = openSync(path, flags);
  try {
    const stat = fstatSync(descriptor);
    if (stat.isFile()) return { kind: 'file', descriptor, stat };
    closeSync(descriptor);
    return notRegular(stat);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/**
 * The stat of a path; undefined: nothing is there. Throws other errors, also if a part of the path is a file, which Node 24 treats
 * as absence; there only the error tells, which costs ten times as much.
 */
export function statOf(path: string): Stats | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat !== undefined || !(takesAllForAbsent ??= isTakenForAbsent())) return stat;
  try {
    return statSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

let takesAllForAbsent: boolean | null = null;

function isTakenForAbsent(): boolean {
  try {
    statSync(join(fileURLToPath(import.meta.url), 'below a file'), { throwIfNoEntry: false });
    return true;
  } catch {
    return false;
  }
}

/** Why a path must not be opened; null: nothing. Throws errors of the operating system. */
function standsInTheWay(path: string): Obstacle | null {
  const stat = statOf(path);
  if (stat === undefined) return absent;
  return stat.isFile() ? null : notRegular(stat);
}

/**
 * Opens a file for appending, and creates it if it is missing. Never waits: anything but a regular file is refused, also a link,
 * which a run may have put there. Other errors of the operating system are thrown.
 */
export function openForAppending(path: string): OpenedFile | Obstacle {
  const there = statRegular(path);
  if (there.kind === 'unreadable') return there;
  const named = lstatSync(path, { throwIfNoEntry: false });
  if (named?.isSymbolicLink() === true) return notRegular(named);
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK, O_NOFOLLOW } = constants;
  const descriptor = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW, 0o666);
  const stat = fstatSync(descriptor);
  if (stat.isFile()) return { kind: 'file', descriptor, stat };
  closeSync(descriptor);
  return notRegular(stat);
}

/** The stat of a regular file, without opening it. */
export function statRegular(path: string): { kind: 'file'; stat: Stats } | Obstacle {
  try {
    const stat = statOf(path);
    if (stat === undefined) return absent;
    return stat.isFile() ? { kind: 'file', stat } : notRegular(stat);
  } catch (error) {
    return obstacleOf(error);
  }
}

/**
 * The whole text of a small file.
 *
 * @param limit Bytes; a larger file is `unreadable`. A file that grows while it is read is cut there.
 */
export function readRegular(path: string, limit: number, options?: { noLink?: boolean }): FileText | Obstacle {
  const read = readRegularBytes(path, limit, options);
  return read.kind === 'bytes' ? { kind: 'text', text: read.bytes.toString('utf8') } : read;
}

/** Like `readRegular`, for files that may not be text. */
export function readRegularBytes(path: string, limit: number, options?: { noLink?: boolean }): FileBytes | Obstacle {
  try {
    return withSpareDescriptors(() => bytesOf(path, limit, options));
  } catch (error) {
    return obstacleOf(error);
  }
}

/** @throws The error of the operating system. */
function bytesOf(path: string, limit: number, options?: { noLink?: boolean }): FileBytes | Obstacle {
  const opened = openOrThrow(path, options);
  if (opened.kind !== 'file') return opened;
  const { descriptor, stat } = opened;
  try {
    if (stat.size > limit) return { kind: 'unreadable', reason: `it is larger than ${limit} bytes` };
    // Files of /proc and of some network file systems report size 0.
    const bytes = Buffer.allocUnsafe(stat.size === 0 ? Math.min(limit, 1 << 16) : stat.size);
    return { kind: 'bytes', bytes: bytes.subarray(0, fill(descriptor, bytes)) };
  } finally {
    closeSync(descriptor);
  }
}

/** Like `readRegular`, with null for a file that is missing or not readable. */
export function textOrNull(path: string, limit: number): string | null {
  const read = readRegular(path, limit);
  return read.kind === 'text' ? read.text : null;
}

/** The first bytes of a file of any size; empty if it is not readable. */
export function headOrEmpty(path: string, length: number): Buffer {
  const opened = openRegular(path);
  if (opened.kind !== 'file') return Buffer.alloc(0);
  try {
    return headOf(opened.descriptor, length);
  } catch {
    return Buffer.alloc(0);
  } finally {
    closeSync(opened.descriptor);
  }
}

/** The first bytes of an open file. @throws The error of the operating system. */
function headOf(descriptor: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, fill(descriptor, bytes));
}

/** The reason for an error of the system, in words: `EACCES` is `permission denied`. */
export function obstacleOf(error: unknown): Obstacle {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return absent;
  return { kind: 'unreadable', reason: reasons[code ?? ''] ?? code ?? message };
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'it is a symbolic link that leads nowhere or may not be followed',
  ENOTDIR: 'a part of its path is not a directory',
  EISDIR: 'it is a directory',
  EEXIST: 'something else stands in its place',
  EROFS: 'the disk is read-only',
  ENAMETOOLONG: 'its path is too long',
  ESTALE: 'the network file system no longer knows it (ESTALE)',
  EIO: 'the disk reports an error (EIO)',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENXIO: 'nobody listens there',
  EPIPE: 'its reader has ended',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
};

function notRegular(stat: Stats): Obstacle {
  return { kind: 'unreadable', reason: `it is ${kindOf(stat)}, not a regular file` };
}

function kindOf(stat: Stats): string {
  if (stat.isDirectory()) return 'a directory';
  if (stat.isFIFO()) return 'a named pipe';
  if (stat.isSocket()) return 'a socket';
  if (stat.isSymbolicLink()) return 'a symbolic link';
  return 'a device';
}

function fill(descriptor: number, bytes: Buffer): number {
  let length = 0;
  while (length < bytes.length) {
    const got = readSync(descriptor, bytes, length, bytes.length - length, length);
    if (got === 0) break;
    length += got;
  }
  return length;
}
