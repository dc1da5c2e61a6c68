import { closeSync, openSync, readSync } from 'node:fs';
import { withSpareDescriptors } from '../files/spare-descriptor.js';

/** Initial buffer size in bytes, above that of most environments; the buffer grows for larger ones. */
const USUAL = 64 << 10;

let bytes = Buffer.alloc(USUAL);

/**
 * The content of a file below /proc; null if it is not readable, or its process has ended.
 *
 * The buffer is shared, as hundreds of files are read at a time: the bytes are valid until the next call.
 */
export function readProcFile(path: string): Buffer | null {
  try {
    return withSpareDescriptors(() => read(path));
  } catch {
    return null;
  }
}

function read(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    return bytes.subarray(0, fill(file));
  } finally {
    closeSync(file);
  }
}

function fill(file: number): number {
  for (let length = 0; ;) {
    const count = readSync(file, bytes, length, bytes.length - length, null);
    length += count;
    if (count === 0) return length;
    // The kernel returns a page at a time: only a full buffer may have a continuation.
    if (length === bytes.length) bytes = Buffer.concat([bytes], bytes.length * 2);
  }
}
