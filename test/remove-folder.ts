import { rmSync } from 'node:fs';

/**
 * Removes a folder with all that is in it. What is just being killed may still put a file there: it is tried again for some
 * seconds before the error of the file system is thrown.
 */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 25 });
}
