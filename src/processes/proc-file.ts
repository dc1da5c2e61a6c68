import { closeSync, openSync, readSync } from 'node:fs';

/** More than most environments; what is larger makes it grow, bytes. */
const USUAL = 64 << 10;

let bytes = Buffer.alloc(USUAL);

/**
 * What a file below /proc says; null when it may not be read, or whom it is about is gone.
 *
 * Hundreds of them are read at a time, so they share one buffer: the bytes are good until the next call.
 */
export function readProcFile(path: string): Buffer | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return null;
  }
  try {
    return bytes.subarray(0, fill(file));
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

function fill(file: number): number {
  for (let length = 0; ;) {
    const count = readSync(file, bytes, length, bytes.length - length, null);
    length += count;
    if (count === 0) return length;
    // The kernel hands out a page at a time: only what is full may have more.
    if (length === bytes.length) bytes = Buffer.concat([bytes], bytes.length * 2);
  }
}
