import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { attemptDirectory } from './attempt-files.js';
import type { ProcessEntry } from '../../processes/process-table.js';
import { isUnderWay } from './whereabouts.js';

/**
 * An earlier attempt of a run that still lives, or may: its supervisor died and what it knew was deleted, its shim was
 * killed from outside, or it is on another machine. Null: there is none. Costs two small files for each earlier attempt.
 *
 * @param census All processes; asked only where the ending of an earlier attempt is not proven.
 */
export function livingOrphanedAttempt(
  runDirectory: string,
  attempt: number,
  census: () => readonly ProcessEntry[],
): number | null {
  for (let number = attempt - 1; number >= 1; number--) {
    if (isUnderWay({ directory: runDirectory, number }, census)) return number;
  }
  return null;
}

/**
 * Makes the elder the attempt of this number, too: it has the claim of the one and will have its exit code, for this
 * supervisor and the next ones. So no other process can begin it. Throws when the directory cannot be written to.
 */
export function succeed(runDirectory: string, elder: number, attempt: number): void {
  const directory = attemptDirectory(runDirectory, attempt);
  mkdirSync(attemptDirectory(runDirectory, elder), { recursive: true });
  // An empty one, that was made for a start which was put off.
  rmSync(directory, { recursive: true, force: true });
  symlinkSync(String(elder), directory);
}
