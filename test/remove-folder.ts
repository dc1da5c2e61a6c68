import { rmSync } from 'node:fs';

/**
 * Removes a folder with all that is in it. What is just being killed may still put a file there: it is tried again for some
 * seconds before the error of the file system is thrown.
 */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 25 });
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
