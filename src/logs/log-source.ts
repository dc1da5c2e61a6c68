import { closeSync, readSync } from 'node:fs';
import { openRegular, statRegular } from '../files/regular-file.js';
import { displayText } from '../text/display-text.js';

/** What a look at a log says. `identity` changes when another file stands at its place. */
type LogLook = { readonly size: number; readonly identity: string };

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

/** What is no regular file has nothing to show. A network file system may fail one look (ESTALE); the next one tries again. */
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
    // As above: the next read tries again.
    return Buffer.alloc(0);
  } finally {
    closeSync(opened.descriptor);
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

/** Enough for hundreds of lines, and read in a fraction of a millisecond. */
const DEFAULT_BYTES = 256 << 10;

/**
 * The last `count` lines of a log of any size, oldest first, safe to draw (see `displayText`). No file: no lines.
 * An unfinished last line is given too.
 *
 * @param maxBytes How far back from the end to look; a line cut by that limit is left out.
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
    // The disk or the network failed the read: nothing is known of its end.
    return null;
  } finally {
    closeSync(descriptor);
  }
}
