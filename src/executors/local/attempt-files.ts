import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { uptime } from 'node:os';
import { basename, join } from 'node:path';
import { exitCodeIn } from '../../contract/exit-code.js';
import { runFiles } from '../../contract/files.js';
import { openForAppending, statRegular, textOrNull } from '../../files/regular-file.js';
import { type Claim, parseClaim, type ShellWords, shellWords, surrender, withdrawal } from './claim-text.js';

/** Of the files that a shim writes, bytes. */
const LARGEST = 64 << 10;

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
    const opened = openForAppending(join(directory, runFiles.pid));
    if (opened.kind !== 'file') return;
    writeFileSync(opened.descriptor, `${surrender}\n`);
    closeSync(opened.descriptor);
  } catch {
    // It is asked for again.
  }
}

export function isGivenUp(directory: string): boolean {
  return (readIfThere(join(directory, runFiles.pid)) ?? '').includes(`\n${surrender}\n`);
}

/**
 * Why it cannot be known who owns an attempt, in words: its file is no file, or the disk refuses it. Null: it can, or nobody
 * does.
 */
export function attemptObstacle(directory: string): string | null {
  const there = statRegular(join(directory, runFiles.pid));
  return there.kind === 'unreadable' ? obstacleWords(directory, there.reason) : null;
}

export function obstacleWords(directory: string, reason: string): string {
  return `${runFiles.attempts}/${basename(directory)} cannot be read: ${reason}`;
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
    try {
      writeSync(fd, `${withdrawal}\n`);
    } finally {
      closeSync(fd);
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Whether the attempt was claimed before the machine was last started. */
export function isFromEarlierBoot(directory: string): boolean {
  const there = statRegular(join(directory, runFiles.pid));
  return there.kind === 'file' && there.stat.mtimeMs < Date.now() - uptime() * 1000;
}

/** The exit code the shim wrote; null when it has not (yet). */
export function readExitCode(directory: string): number | null {
  return exitCodeIn(readIfThere(join(directory, runFiles.exit)), () => readIfThere(join(directory, runFiles.pid)));
}

function readIfThere(path: string): string | null {
  return textOrNull(path, LARGEST);
}
