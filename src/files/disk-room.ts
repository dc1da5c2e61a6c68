import { statfsSync, unlinkSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { pid } from 'node:process';
import { writeFresh } from './whole-file.js';

/** With less than this a disk may refuse the next byte, for reasons of its own: reserves, quotas, blocks. Bytes. */
const SCARCE = 1 << 20;
/** A start needs a few small files; a program that is given less will hardly get far. Bytes. */
const NEEDED = 1 << 16;

/**
 * Whether there is room below `directory` for what the start of a run writes. Costs one system call unless little is left;
 * then it is tried, because only the file system knows what it keeps back for whom. True where nobody can tell.
 */
export function hasRoom(directory: string): boolean {
  return freeBytes(directory) >= SCARCE || mayWrite(join(directory, `.room-${pid}`));
}

/** Infinity where the file system does not count. */
function freeBytes(directory: string): number {
  try {
    const { blocks, bavail, bsize } = statfsSync(directory);
    return blocks === 0 ? Infinity : bavail * bsize;
  } catch {
    return Infinity;
  }
}

/** The room on the disk of a directory, bytes, `free` for people without privileges; null where nobody can tell. Waits for no disk. */
export async function diskRoom(directory: string): Promise<{ free: number; total: number } | null> {
  try {
    const { blocks, bavail, bsize } = await statfs(directory);
    return blocks === 0 ? null : { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return null;
  }
}

/** Only a lack of room is a no: whatever else is wrong has words of its own elsewhere. */
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

/** Whether the system refused something because the disk, or the person's share of it, is full. */
export function isShortOfRoom(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It could not even be made.
  }
}
