/** Writing files where others may have put something else: in the directories of runs and sweeps. */
import { closeSync, constants, linkSync, openSync, renameSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';

/**
 * Replaces a file atomically: a reader sees the old content or the new one, never half of either. A link or a pipe at the path is
 * replaced too; nothing is written through it. Each `draft` may have one writer at a time.
 *
 * @throws The error of the operating system, as when the disk is full; the draft is removed then.
 */
export function writeWhole(
  path: string,
  content: string | Uint8Array,
  { mode = 0o666, draft = `${path}.tmp` }: { mode?: number; draft?: string } = {},
): void {
  try {
    writeFresh(draft, content, mode);
    renameSync(draft, path);
  } catch (error) {
    removeIfPossible(draft);
    throw error;
  }
}

/** Writes a new file: anything at the path is removed first, and no link is followed. */
export function writeFresh(path: string, content: string | Uint8Array, mode = 0o666): void {
  const descriptor = openFresh(path, mode);
  try {
    writeFileSync(descriptor, content);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Gives a finished file its name unless the name is taken: no reader sees it half written, and of several processes that try
 * exactly one succeeds. The draft stays.
 *
 * @returns False when the name is taken. @throws Other errors of the operating system.
 */
export function linkNew(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Like `writeFresh`, for callers that write more than one text. */
export function openFresh(path: string, mode: number): number {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const open = () => openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    return open();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    remove(path);
    return open();
  }
}

function removeIfPossible(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was not begun, or the disk takes no change at all.
  }
}

/** Removes a file or an empty directory. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EISDIR' && code !== 'EPERM') throw error;
    rmdirSync(path);
  }
}
