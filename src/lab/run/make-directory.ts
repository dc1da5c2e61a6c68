import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UserError } from '../../base/user-error.js';

/**
 * Makes a directory and its missing parents, one after the other: below `/proc`, `mkdir` reports a missing parent
 * although it exists, and Node's recursive way then tries for ever.
 *
 * @param key The argument that named the path, for the error.
 * @throws UserError when the directory cannot be made.
 */
export function makeDirectory(path: string, key: string): void {
  try {
    makeMissing(resolve(path));
  } catch (cause) {
    throw new UserError(`The directory ${path} cannot be made.`, `Choose another ${key}.`, { cause });
  }
}

export function makeMissing(path: string): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeMissing(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have made it in between.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
