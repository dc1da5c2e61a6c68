import { readProcFile } from './proc-file.js';

/** Pids of the children of a process, oldest first, in 20 µs; null: it has ended, or the kernel does not list them. */
export function childrenOf(pid: number): number[] | null {
  const bytes = readProcFile(`/proc/${pid}/task/${pid}/children`);
  return bytes === null ? null : bytes.toString('utf8').split(' ').map(Number).filter(Boolean);
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
  const [, bytes, calls] = /^wchar: (\d+)$[^]*^syscw: (\d+)$/m.exec(text) ?? [];
  return calls === undefined ? null : `${bytes} ${calls}`;
}
