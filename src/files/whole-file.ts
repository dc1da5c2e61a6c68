/** Writing files where others may have put something else: in the directories of runs and sweeps. */
import { closeSync, constants, linkSync, openSync, renameSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';

/**
 * Replaces a file in one step: a reader sees the old content or the new one, never half of either. Whatever stood there, a
 * link or a pipe too, gives way; nothing is written through it. One writer at a time for each `draft`.
 *
 * @throws What the system says. The draft may be left, and is replaced the next time.
 */
export function writeWhole(
  path: string,
  content: string | Uint8Array,
  { mode = 0o666, draft = `${path}.tmp` }: { mode?: number; draft?: string } = {},
): void {
  writeFresh(draft, content, mode);
  renameSync(draft, path);
}

/** Writes a file that was not there before: what stands at the path is taken away first, and no link is followed. */
export function writeFresh(path: string, content: string | Uint8Array, mode = 0o666): void {
  const descriptor = openFresh(path, mode);
  try {
    writeFileSync(descriptor, content);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Gives a finished file its name, unless something has that name already: nobody sees it half written, and of several who try
 * exactly one succeeds. The draft stays where it is.
 *
 * @returns False when there is something of that name. @throws What else the system says.
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

/** As `writeFresh`, for those who write more than one text. */
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

/** A directory goes only when nothing is in it. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EISDIR' && code !== 'EPERM') throw error;
    rmdirSync(path);
  }
}
