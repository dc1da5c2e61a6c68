import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its missing parents; returns true if it did not exist. Throws the error of the operating system.
 *
 * Node's recursive `mkdir` never returns where a parent is missing and cannot be created: a relative path in a working directory
 * that was deleted, a path below `/proc`.
 *
 * @param root A folder above, which is not created: someone has deleted it, with all that would be below.
 */
export function makeFolder(path: string, mode?: number, root?: string): boolean {
  if (isFolder(path)) return false;
  const parent = dirname(path);
  if (parent !== path && parent !== root) makeFolder(parent, mode, root);
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    // Another process may have created it in between.
    if (isFolder(path)) return false;
    throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
