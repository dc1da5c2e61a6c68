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

/** Pids of the children of a process, oldest first, in 20 µs; null: it has ended, or the kernel does not list them. */
export function childrenOf(pid: number): number[] | null {
  const listed = readProcFile(`/proc/${pid}/task/${pid}/children`);
  return listed === null ? null : listed.toString('utf8').split(' ').map(Number).filter(Boolean);
}

/** Pids of the living descendants of a process, each found when it is asked for; none if the kernel does not list children. */
export function* descendantsOf(pid: number): Generator<number> {
  for (const child of childrenOf(pid) ?? []) {
    yield child;
    yield* descendantsOf(child);
  }
}

/**
 * A text that differs after a process of this tree has written anything, or one has been started or has ended; null: the system
 * does not tell. Takes some 50 µs for each process.
 */
export function activityOf(root: number): string | null {
  if (childrenOf(root) === null) return null;
  let text = '';
  for (const pid of [root, ...descendantsOf(root)]) {
    const written = writtenBy(pid);
    if (written === null) return null;
    text += `${pid} ${written};`;
  }
  return text;
}

/** How much a process has written so far, its threads and its ended children included, and in how many calls. */
function writtenBy(pid: number): string | null {
  const text = readProcFile(`/proc/${pid}/io`)?.toString('latin1') ?? '';
  const [, written, calls] = /^wchar: (\d+)$[^]*^syscw: (\d+)$/m.exec(text) ?? [];
  return calls === undefined ? null : `${written} ${calls}`;
}
