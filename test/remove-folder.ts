import { rmSync } from 'node:fs';

const TRIES = 20;
const PAUSE_MS = 25;

/**
 * Removes a folder with all that is in it. What is just being killed may still put a file there: it is tried again for some time
 * before the error of the file system is thrown. (`maxRetries` of Node tries the folder alone again, not what has come into it.)
 */
export function removeFolder(folder: string): void {
  for (let tried = 0; tried < TRIES && !isRemoved(folder); tried++) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Removes a folder with all that is in it; false when somebody has put something there meanwhile. */
export function isRemoved(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTEMPTY') return false;
    throw error;
  }
}
