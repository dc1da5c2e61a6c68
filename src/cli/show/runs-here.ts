import { existsSync, readdirSync } from 'node:fs';
import { noSuchSweep, UserError } from '../../base/user-error.js';
import { type CommonOptions, runsDirectory } from '../options.js';
import { printAnswer, remark } from '../terminal.js';

/** The runs directory. @throws {UserError} When it does not exist. */
export function existingRunsDirectory({ runs }: CommonOptions): string {
  const directory = runsDirectory(runs);
  if (existsSync(directory)) return directory;
  throw new UserError(
    `There is no runs directory ${directory}.`,
    'Change to the directory that you launched the sweep from, or name its runs directory with --runs.',
    noSuchSweep,
  );
}

/**
 * Whether nothing was ever launched in the runs directory: no supervisor has been there, and no sweep is there to be taken over. What
 * only looks can say so without starting one.
 */
export function isUntouched(options: CommonOptions): boolean {
  const directory = existingRunsDirectory(options);
  try {
    return readdirSync(directory, { withFileTypes: true }).every((entry) => entry.isFile());
  } catch {
    // Whoever looks for its supervisor says why the directory is not readable.
    return false;
  }
}

/** What `ls` says where there are no runs. @returns The exit code. */
export function lsOfNothing({ json }: CommonOptions): number {
  if (json === true) printAnswer('ls', []);
  else remark(noRuns);
  return 0;
}

export const noRuns = 'There are no runs here.';

/** The error where no sweep was launched. */
export function noSweep(): UserError {
  return new UserError('No sweep was launched here.', 'Launch one: `memrl-tui sweeps/quick.yaml`.', noSuchSweep);
}
