import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Name } from '../base/ids.js';
import { UserError } from '../base/user-error.js';
import { makeFolder } from '../files/make-folder.js';
import { unwritable } from '../files/output-file.js';

/** Folder of the sweep files that are written, from where the person is. */
export const sweepFolder = 'sweeps';

/**
 * Path of a sweep file that is to be written.
 *
 * @param asked As typed after `--name`; else `usual`.
 * @throws {UserError} When a sweep cannot be called so.
 */
export function sweepPath(asked: string | undefined, usual: string): string {
  const name = asked ?? usual;
  const read = Name.safeParse(name);
  if (read.success) return join(sweepFolder, `${read.data}.yaml`);
  const problem = `${JSON.stringify(name)} cannot be the name of a sweep: ${read.error.issues[0]?.message ?? 'it is none'}.`;
  throw new UserError(problem, 'Name it with `--name lr-search`.');
}

/** Whether anything has that name already, be it a link that leads nowhere. */
export function isTaken(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Writes a sweep file that was not there before. @throws {UserError} When something is, or the system refuses. */
export function writeNewSweep(path: string, text: string): void {
  makeFolder(dirname(path));
  try {
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    // Half of it, for want of room.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(path, { force: true });
    throw unwritable(path, error, 'Choose another name with `--name`, or make room for it.');
  }
}

/** `train` for `python -u train.py --fast` and `python -m lab.train`, else the program. */
export function sweepNameOf(command: readonly string[]): string {
  const script = command.find((word, index) => index > 0 && /\.(py|sh|R|jl|m?js|ts|rb|pl|ipynb)$/.test(word));
  const module = command[command.indexOf('-m') + 1];
  const word = script ?? (command.includes('-m') ? module?.split('.').at(-1) : undefined) ?? command[0] ?? '';
  const stem = word.replace(/^.*\//, '').replace(/(?<=.)\.\w+$/, '');
  const safe = stem.replace(/[^A-Za-z0-9._=+,@-]+/g, '-').replace(/^[^A-Za-z0-9_]+/, '');
  return safe.slice(0, 100) || 'sweep';
}
