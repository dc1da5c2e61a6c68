import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

/** What a look at a log says. `identity` changes when another file stands at its place. */
export type LogLook = { readonly size: number; readonly identity: string };

/** The bytes of a log, wherever they are. */
export type LogSource = {
  /** Null: there is no log yet. */
  look(): LogLook | null;
  /** At most `length` bytes from byte `from` on; fewer where the log ends, none where it cannot be read. */
  read(from: number, length: number): Buffer;
};

/** A log in a file. It is opened for each read, so a file that is replaced costs no descriptor and is noticed. */
export function fileSource(path: string): LogSource {
  return { look: () => look(path), read: (from, length) => readPart(path, from, length) };
}

function look(path: string): LogLook | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true ? { size: stat.size, identity: `${stat.dev}:${stat.ino}` } : null;
  } catch {
    // A network file system may fail one look (ESTALE); the next one tries again.
    return null;
  }
}

function readPart(path: string, from: number, length: number): Buffer {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, fstatSync(descriptor).size - from)));
    return bytes.subarray(0, fill(descriptor, bytes, from));
  } catch {
    return Buffer.alloc(0);
  } finally {
    closeSync(descriptor);
  }
}

/** How many bytes were there. */
function fill(descriptor: number, bytes: Buffer, from: number): number {
  let length = 0;
  while (length < bytes.length) {
    const got = readSync(descriptor, bytes, length, bytes.length - length, from + length);
    if (got === 0) break;
    length += got;
  }
  return length;
}
