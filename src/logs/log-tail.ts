import { closeSync, readSync } from 'node:fs';
import { openRegular } from '../files/regular-file.js';
import { displayText } from '../text/display-text.js';

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
