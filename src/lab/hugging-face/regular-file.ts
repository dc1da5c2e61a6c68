/** Files of a directory from elsewhere: only regular ones are opened, without blocking, and never read past a bound. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errorText, UserError } from '../../base/user-error.js';

/** A file that is open for reading while `withFile` runs. */
export type OpenFile = {
  readonly path: string;
  /** Length in bytes when the file was opened. */
  readonly bytes: number;
  /** The bytes from `begin` up to `end`. @throws UserError when the file has become shorter. */
  readonly read: (begin: number, end: number) => Uint8Array;
};

/** @throws UserError when there is no regular file, or it cannot be read. */
export function withFile<T>(path: string, use: (file: OpenFile) => T): T {
  const descriptor = open(path);
  try {
    const stat = fstatSync(descriptor);
    // A FIFO would never end, and reading a device may have side effects.
    if (!stat.isFile()) throw unreadable(path, 'it is not a regular file');
    return use({ path, bytes: stat.size, read: (begin, end) => readRange({ path, descriptor }, begin, end) });
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The bytes of a file from its beginning, in chunks; unneeded chunks are not read. The file is closed when the loop
 * over them ends, however it ends.
 *
 * @throws UserError when there is no regular file, or it cannot be read.
 */
export function* chunksOf(path: string, size: number): Generator<Uint8Array> {
  const descriptor = open(path);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw unreadable(path, 'it is not a regular file');
    for (let begin = 0; begin < stat.size; begin += size) {
      yield readRange({ path, descriptor }, begin, Math.min(stat.size, begin + size));
    }
  } finally {
    closeSync(descriptor);
  }
}

/** The text of a file of at most `most` bytes. @throws UserError when it is longer, or cannot be read. */
export function readText(path: string, most: number): string {
  return withFile(path, (file) => {
    if (file.bytes > most)
      throw unreadable(path, `it has ${file.bytes} bytes, and ${most} are the most that make sense`);
    return new TextDecoder().decode(file.read(0, file.bytes));
  });
}

function open(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw unreadable(path, errorText(cause), cause);
  }
}

function readRange(file: { path: string; descriptor: number }, begin: number, end: number): Uint8Array {
  const bytes = new Uint8Array(end - begin);
  for (let done = 0; done < bytes.length;) {
    const read = readSync(file.descriptor, bytes, done, bytes.length - done, begin + done);
    if (read === 0) throw unreadable(file.path, `it ended at byte ${begin + done} while it was read`);
    done += read;
  }
  return bytes;
}

function unreadable(path: string, why: string, cause?: unknown): UserError {
  return new UserError(`${path} cannot be read: ${why}.`, 'Fetch or write the file again, or give another directory.', {
    cause,
  });
}
