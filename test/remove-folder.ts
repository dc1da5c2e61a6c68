import { rmSync } from 'node:fs';
import { type ProcessEntry, readProcesses } from '../src/processes/process-table.js';

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

/**
 * Ends all processes that belong to a folder, and says whether there was none. It is to be asked until that is so: whoever was
 * being started at that moment is seen the next time.
 */
export function isDeserted(folder: string): boolean {
  const left = readProcesses().filter((entry) => entry.pid !== process.pid && belongsTo(entry, folder));
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended by itself.
    }
  }
  return left.length === 0;
}

/** By its mark or its working directory, or by its command: that of its parent, until it has executed its own program. */
function belongsTo(entry: ProcessEntry, folder: string): boolean {
  const isWithin = (path: string | null) => path === folder || path?.startsWith(`${folder}/`) === true;
  return isWithin(entry.mark()) || isWithin(entry.cwd()) || entry.argv().some((word) => word.includes(folder));
}
