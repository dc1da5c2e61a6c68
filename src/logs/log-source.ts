import { closeSync, readSync } from 'node:fs';
import { openRegular, statRegular } from '../files/regular-file.js';
import { displayText } from '../text/display-text.js';

/** The state of a log. `identity` changes when the file is replaced. */
type LogLook = { readonly size: number; readonly identity: string };

/** The bytes of a log, wherever they are. */
export type LogSource = {
  /** Null: there is no log yet. */
  look(): LogLook | null;
  /** At most `length` bytes from byte `from` on; fewer at the end of the log, none if it is not readable. */
  read(from: number, length: number): Buffer;
};

/** A log in a file. It is opened for each read, so that it holds no descriptor, and a replaced file is noticed. */
export function fileSource(path: string): LogSource {
  return { look: () => look(path), read: (from, length) => readPart(path, from, length) };
}

/**
 * The state of a file; null if it is not a regular file. A network file system may fail one look (ESTALE); the next one tries
 * again.
 */
function look(path: string): LogLook | null {
  const there = statRegular(path);
  if (there.kind !== 'file') return null;
  const { size, dev, ino } = there.stat;
  return { size, identity: `${dev}:${ino}` };
}

function readPart(path: string, from: number, length: number): Buffer {
  const opened = openRegular(path);
  if (opened.kind !== 'file') return Buffer.alloc(0);
  try {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, opened.stat.size - from)));
    return bytes.subarray(0, fill(opened.descriptor, bytes, from));
  } catch {
    // As above, the next read tries again.
    return Buffer.alloc(0);
  } finally {
    closeSync(opened.descriptor);
  }
}

/** Reads into a buffer; returns the number of bytes. */
function fill(descriptor: number, bytes: Buffer, from: number): number {
  let length = 0;
  while (length < bytes.length) {
    const got = readSync(descriptor, bytes, length, bytes.length - length, from + length);
    if (got === 0) break;
    length += got;
  }
  return length;
}

/** Enough for hundreds of lines, and read in a fraction of a millisecond. */
const DEFAULT_BYTES = 256 << 10;

/**
 * The last `count` lines of a log of any size, oldest first, safe to draw (see `displayText`). Empty if there is no file. An
 * unfinished last line is included.
 *
 * @param maxBytes Number of bytes from the end that are read; a line cut by that limit is left out.
 */
export function lastLines(path: string, count: number, maxBytes = DEFAULT_BYTES): string[] {
  const end = readEnd(path, maxBytes);
  if (end === null || count <= 0) return [];
  const lines = end.text.split('\n');
  if (end.cut && lines.length > 1) lines.shift();
  if (lines.at(-1) === '') lines.pop();
  return lines.slice(-count).map(displayText);
}

/** `cut`: the text begins in the middle of the file, perhaps in the middle of a line. */
function readEnd(path: string, maxBytes: number): { text: string; cut: boolean } | null {
  const opened = openRegular(path);
  if (opened.kind !== 'file') return null;
  const { descriptor, stat } = opened;
  try {
    const bytes = Buffer.alloc(Math.min(stat.size, maxBytes));
    const length = readSync(descriptor, bytes, 0, bytes.length, stat.size - bytes.length);
    return { text: bytes.toString('utf8', 0, length), cut: stat.size > bytes.length };
  } catch {
    // A read of the disk or the network failed, so the end is unknown.
    return null;
  } finally {
    closeSync(descriptor);
  }
}
