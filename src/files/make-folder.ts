import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and the parents that are missing; true when it was not there. Throws what the system says.
 *
 * Node's recursive `mkdir` never returns where a parent is missing and cannot be made: a relative path in a working directory
 * that was deleted, a path below `/proc`.
 */
export function makeFolder(path: string, mode?: number): boolean {
  if (isFolder(path)) return false;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, mode);
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    // Another process may have made it in between.
    if (isFolder(path)) return false;
    throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
