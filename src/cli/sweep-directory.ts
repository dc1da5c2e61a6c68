import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Name } from '../base/ids.js';
import { UserError } from '../base/user-error.js';
import { shortened } from '../text/display-text.js';
import { didYouMean } from '../text/nearest.js';

/**
 * Path of a sweep that was launched, for verbs that read its files alone.
 *
 * @throws {UserError} When there is none of that name, with the nearest that there is.
 */
export function sweepDirectory(runsDirectory: string, name: string): string {
  if (name.trim() === '') throw emptyName();
  const directory = join(runsDirectory, name);
  // A name is no path: what lies elsewhere is another runs directory.
  if (Name.safeParse(name).success && isDirectory(directory)) return directory;
  throw new UserError(
    `There is no sweep \`${shortened(name)}\` in ${runsDirectory}.`,
    didYouMean(name, sweepsIn(runsDirectory)),
  );
}

/** What stands for a sweep says nothing. */
export function emptyName(): UserError {
  return new UserError(
    'The name of the sweep is empty. Perhaps a shell variable is not set.',
    'Name a sweep: `memrl-tui status` lists them.',
  );
}

function sweepsIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  } catch {
    return [];
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
