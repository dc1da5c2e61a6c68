import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Name } from '../base/ids.js';
import { UserError } from '../base/user-error.js';
import { makeFolder } from '../files/make-folder.js';
import { unwritable } from '../files/output-file.js';
import { at } from './ports.js';

/** Folder for new sweep files, below the working directory. */
export const sweepFolder = 'sweeps';

/**
 * Path of a new sweep file.
 *
 * @param asked The argument of `--name`; else `usual`.
 * @throws {UserError} When the name is not valid for a sweep.
 */
export function sweepPath(asked: string | undefined, usual: string): string {
  const name = asked ?? usual;
  const read = Name.safeParse(name);
  if (read.success) return join(sweepFolder, `${read.data}.yaml`);
  const problem = `${JSON.stringify(name)} cannot be the name of a sweep: ${read.error.issues[0]!.message}.`;
  throw new UserError(problem, 'Name it with `--name lr-search`.');
}

/** Whether the path exists, even as a dangling link. */
export function isTaken(path: string): boolean {
  return lstatSync(at(path), { throwIfNoEntry: false }) !== undefined;
}

/** @throws {UserError} When the path exists. */
export function refuseExisting(path: string): void {
  if (!isTaken(path)) return;
  throw new UserError(`${path} exists; it is not overwritten.`, 'Choose another name with `--name`, or remove it.');
}

/** Writes a new sweep file. @throws {UserError} When the path exists, or the system refuses. */
export function writeNewSweep(path: string, text: string): void {
  makeFolder(dirname(at(path)));
  try {
    writeFileSync(at(path), text, { flag: 'wx' });
  } catch (error) {
    // Removes a partial file, which a full disk may leave.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(at(path), { force: true });
    throw unwritable(path, error, 'Choose another name with `--name`, or make room for it.');
  }
}

/** The name of a sweep by its command: `train` for `python -u train.py --fast` and `python -m lab.train`, else the program. */
export function sweepNameOf(command: readonly string[]): string {
  const script = command.find((word, index) => index > 0 && /\.(py|sh|R|jl|m?js|ts|rb|pl|ipynb)$/.test(word));
  const module = command[command.indexOf('-m') + 1];
  const word = script ?? (command.includes('-m') ? module?.split('.').at(-1) : undefined) ?? command[0] ?? '';
  const stem = word.replace(/^.*\//, '').replace(/(?<=.)\.\w+$/, '');
  const safe = stem.replace(/[^A-Za-z0-9._=+,@-]+/g, '-').replace(/^[^A-Za-z0-9_]+/, '');
  return safe.slice(0, 100) || 'sweep';
}
