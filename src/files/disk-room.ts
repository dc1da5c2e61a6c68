import { statfsSync, unlinkSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { pid } from 'node:process';
import { writeFresh } from './whole-file.js';

/** Free space in bytes below which a disk may refuse to write, because of reserves, quotas or block sizes. */
const SCARCE = 1 << 20;
/** Free space in bytes that the start of a run needs for its small files; a program with less will soon fail. */
const NEEDED = 1 << 16;

/**
 * Whether there is room below `directory` for the files of a run's start. Costs one system call unless little space is left; then
 * writing is tried, because only the file system knows its reserves and quotas. True where that is unknown.
 */
export function hasRoom(directory: string): boolean {
  return freeBytes(directory) >= SCARCE || mayWrite(join(directory, `.room-${pid}`));
}

/** Free space in bytes; Infinity where the file system does not report it. */
function freeBytes(directory: string): number {
  try {
    const { blocks, bavail, bsize } = statfsSync(directory);
    return blocks === 0 ? Infinity : bavail * bsize;
  } catch {
    return Infinity;
  }
}

/** The space on the disk of a directory, in bytes, `free` without privileges; null if unknown. Asynchronous, as a disk may hang. */
export async function diskRoom(directory: string): Promise<{ free: number; total: number } | null> {
  try {
    const { blocks, bavail, bsize } = await statfs(directory);
    return blocks === 0 ? null : { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return null;
  }
}

/** Whether a file can be written. Only a lack of space counts as no, as other errors are reported elsewhere. */
function mayWrite(draft: string): boolean {
  try {
    writeFresh(draft, Buffer.alloc(NEEDED));
    return true;
  } catch (error) {
    return !isShortOfRoom(error);
  } finally {
    removeIfThere(draft);
  }
}

/** Whether the system refused an operation because the disk or the user's quota is full. */
export function isShortOfRoom(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The file could not even be created.
  }
}
