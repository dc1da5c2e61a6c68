import { rmSync, symlinkSync } from 'node:fs';
import { attemptDirectory, readClaim, readExitCode } from './attempt-files.js';
import { isAlive } from './process-identity.js';

/**
 * An earlier attempt of a run that still lives, though nobody knows of it any more: its supervisor died, and what it knew
 * was deleted before the next one came. Null: there is none. Costs two small files for each earlier attempt.
 */
export function livingElder(runDirectory: string, attempt: number): number | null {
  for (let number = attempt - 1; number >= 1; number--) {
    const directory = attemptDirectory(runDirectory, number);
    const claim = readClaim(directory);
    if (claim.kind === 'begun' && readExitCode(directory) === null && isAlive(claim.identity)) return number;
  }
  return null;
}

/**
 * Makes the elder the attempt of this number, too: it has the claim of the one and will have its exit code, for this
 * supervisor and the next ones. So no other process can begin it. Throws when the directory cannot be written to.
 */
export function succeed(runDirectory: string, elder: number, attempt: number): void {
  const directory = attemptDirectory(runDirectory, attempt);
  // An empty one, that was made for a start which was put off.
  rmSync(directory, { recursive: true, force: true });
  symlinkSync(String(elder), directory);
}
