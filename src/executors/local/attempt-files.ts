import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { exitCodeIn } from '../../contract/exit-code.js';
import { runFiles } from '../../contract/files.js';
import { type Claim, parseClaim, type ShellWords, shellWords, surrender, withdrawal } from './claim-text.js';

export function attemptDirectory(runDirectory: string, attempt: number): string {
  return join(runDirectory, runFiles.attempts, String(attempt));
}

export function readClaim(directory: string): Claim {
  return parseClaim(readIfThere(join(directory, runFiles.pid)));
}

/** What the shell of the attempt's shim said of the command. */
export function readShellWords(directory: string): ShellWords {
  return shellWords(readIfThere(join(directory, runFiles.pid)));
}

/** Notes that a person takes an attempt for ended whose processes cannot be reached, so that another may be started. */
export function giveUp(directory: string): void {
  try {
    appendFileSync(join(directory, runFiles.pid), `${surrender}\n`);
  } catch {
    // It is asked for again.
  }
}

export function isGivenUp(directory: string): boolean {
  return (readIfThere(join(directory, runFiles.pid)) ?? '').includes(`\n${surrender}\n`);
}

/**
 * Makes sure that an attempt will never start, by taking the shim's place.
 *
 * @returns Whether that succeeded; false when it had begun already. Throws when the file cannot be made for another reason.
 */
export function withdraw(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true });
    const fd = openSync(join(directory, runFiles.pid), 'wx');
    writeSync(fd, `${withdrawal}\n`);
    closeSync(fd);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Whether the attempt was claimed before the machine was last started. */
export function isFromEarlierBoot(directory: string): boolean {
  return statSync(join(directory, runFiles.pid)).mtimeMs < Date.now() - uptime() * 1000;
}

/** The exit code the shim wrote; null when it has not (yet). */
export function readExitCode(directory: string): number | null {
  return exitCodeIn(readIfThere(join(directory, runFiles.exit)), () => readIfThere(join(directory, runFiles.pid)));
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
