import { closeSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { exitCodeIn } from '../../contract/run-record.js';
import { fileSystemTime } from '../../files/file-system-time.js';
import { ensureOwnDirectory } from '../../files/own-directory.js';
import { openForAppending, readRegular, statRegular, textOrNull } from '../../files/regular-file.js';
import { linkNew, writeFresh } from '../../files/whole-file.js';
import { type Claim, parseClaim, type ShellWords, shellWords, surrender, withdrawalLine } from './claim-text.js';
import { makeFolder } from '../../files/make-folder.js';
import type { TakenOver } from '../executor.js';

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
 * Makes sure that an attempt will never start, by taking the shim's place. In one step: a claim without its line is a shim's.
 *
 * Its directory is made before its shim is started, and each shim claims it before it does anything else. So where the
 * directory is there without a claim, nobody has come to begin the attempt; unless the machine stopped meanwhile, which may
 * have taken the file with it.
 *
 * @returns Whether it never ran, as far as that can be known; null when it had been claimed already. Throws when the file
 * cannot be made for another reason.
 */
export function withdraw(directory: string): { neverRan: boolean } | null {
  const madeAt = statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? null;
  ensureOwnDirectory(dirname(dirname(directory)));
  makeFolder(directory);
  const path = join(directory, runFiles.pid);
  const draft = `${path}.tmp`;
  const neverRan = madeAt !== null && !isBeforeBoot(madeAt, directory);
  writeFresh(draft, withdrawalLine(neverRan));
  try {
    return linkNew(draft, path) ? { neverRan } : null;
  } finally {
    unlinkSync(draft);
  }
}

/** Whether the attempt was claimed before the machine was last started. */
export function isFromEarlierBoot(directory: string): boolean {
  const there = statRegular(join(directory, runFiles.pid));
  return there.kind === 'file' && isBeforeBoot(there.stat.mtimeMs, directory);
}

/** By the clock of the file system: that of this program may be in another year. */
function isBeforeBoot(mtimeMs: number, directory: string): boolean {
  return timeOrOwn(directory) - mtimeMs > uptime() * 1000;
}

function timeOrOwn(directory: string): number {
  try {
    return fileSystemTime(directory);
  } catch {
    return Date.now();
  }
}

/** Why the file of the exit code cannot be read though it may be there, in words; null: it can be, or is not there. */
export function exitObstacle(directory: string): string | null {
  const read = readRegular(join(directory, runFiles.exit), LARGEST);
  return read.kind === 'unreadable' ? obstacleWords(directory, read.reason) : null;
}

/** The exit code the shim wrote; null when it has not (yet). */
export function readExitCode(directory: string): number | null {
  return exitCodeIn(readIfThere(join(directory, runFiles.exit)), () => readIfThere(join(directory, runFiles.pid)));
}

/** How long ago the shim wrote that exit code, ms, by the clock of this machine; null when it has not. */
export function endedAgo(directory: string): number | null {
  const written = statRegular(join(directory, runFiles.exit));
  return written.kind === 'file' ? Math.max(0, Date.now() - written.stat.mtimeMs) : null;
}

function readIfThere(path: string): string | null {
  return textOrNull(path, LARGEST);
}

/**
 * Makes the orphan the attempt of the later number, too: it has the claim of the one and will have its exit code, for this
 * supervisor and the next ones. So no other process can begin it. Throws when the directory cannot be written to.
 */
export function succeed(runDirectory: string, { orphan, attempt }: TakenOver): void {
  ensureOwnDirectory(runDirectory);
  const directory = attemptDirectory(runDirectory, attempt);
  makeFolder(attemptDirectory(runDirectory, orphan));
  // An empty one, that was made for a start which was put off.
  rmSync(directory, { recursive: true, force: true });
  symlinkSync(String(orphan), directory);
}
