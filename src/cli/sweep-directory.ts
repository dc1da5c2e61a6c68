import { existsSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Name } from '../base/ids.js';
import { noSuchRun, noSuchSweep, UserError } from '../base/user-error.js';
import { runFiles } from '../contract/files.js';
import { foldersIn, sweepsOnDisk } from '../files/sweep-folder.js';
import { shortened } from '../text/display-text.js';
import { didYouMean } from '../text/nearest.js';
import { at } from './ports.js';

/**
 * Path of a launched sweep, for verbs that only read its files.
 *
 * @throws {UserError} When there is none of that name, with the nearest name.
 */
export function sweepDirectory(runsDirectory: string, name: string): string {
  if (name.trim() === '') throw emptyName();
  const directory = join(runsDirectory, name);
  // A name must not be a path: other folders are other runs directories.
  if (Name.safeParse(name).success && isDirectory(directory)) return directory;
  throw new UserError(
    `There is no sweep \`${shortened(name)}\` in ${runsDirectory}.`,
    didYouMean(name, sweepsOnDisk(runsDirectory)),
    noSuchSweep,
  );
}

/**
 * Path of a run for verbs that only read its files: its directory, `sweep/run` or a run's name in the runs directory.
 *
 * @throws {UserError} When there is none, or several have the name.
 */
export function runDirectory(runsDirectory: string, run: string): string {
  if (run.trim() === '') throw new UserError('The name of the run is empty.', 'Name a run: `memrl-tui ls` lists them.');
  const paths = [
    join(runsDirectory, run),
    ...sweepsOnDisk(runsDirectory).map((sweep) => join(runsDirectory, sweep, run)),
  ];
  const known = [...new Set(paths)].filter((path) => existsSync(join(path, runFiles.record)));
  if (known.length > 1) {
    const sweeps = known.map((path) => `\`${relative(runsDirectory, path)}\``).join(', ');
    throw new UserError(`There are several runs \`${shortened(run)}\`: ${sweeps}.`, 'Say of which sweep: SWEEP/RUN.');
  }
  if (known.length === 1) return known[0]!;
  if (isDirectory(at(run))) return at(run);
  const names = sweepsOnDisk(runsDirectory).flatMap((sweep) => foldersIn(join(runsDirectory, sweep)));
  throw new UserError(`There is no run \`${shortened(run)}\` in ${runsDirectory}.`, didYouMean(run, names), noSuchRun);
}

/** The error for an empty name of a sweep. */
export function emptyName(): UserError {
  return new UserError(
    'The name of the sweep is empty. Perhaps a shell variable is not set.',
    'Name a sweep: `memrl-tui status` lists them.',
  );
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
