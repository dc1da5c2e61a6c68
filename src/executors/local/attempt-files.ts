import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { uptime } from 'node:os';
import { basename, join } from 'node:path';
import { exitCodeIn } from '../../contract/exit-code.js';
import { runFiles } from '../../contract/files.js';
import { statRegular, textOrNull } from '../../files/regular-file.js';
import { isRunCgroup } from './cgroup.js';
import { type ProcessIdentity, parseIdentity } from './process-identity.js';

/**
 * Who owns an attempt. `unreadable`: someone has created the file and its line is not there (yet, or the disk was full).
 * `withdrawn`: a supervisor claimed it so that it can never start. `begun`: a shim did, and entered that cgroup, if any.
 */
export type Claim =
  | { kind: 'none' }
  | { kind: 'unreadable' }
  | { kind: 'withdrawn' }
  | { kind: 'begun'; identity: ProcessIdentity; cgroup: string | null };

/** Of the files that a shim writes, bytes. */
const LARGEST = 64 << 10;

export function attemptDirectory(runDirectory: string, attempt: number): string {
  return join(runDirectory, runFiles.attempts, String(attempt));
}

export function readClaim(directory: string): Claim {
  const text = readIfThere(join(directory, runFiles.pid));
  if (text === null) return { kind: 'none' };
  if (text.startsWith(withdrawal)) return { kind: 'withdrawn' };
  if (!text.endsWith('\n')) return { kind: 'unreadable' };
  const [, shim = '', cgroup = ''] = /^(.*?)(?: cgroup (\/.*))?\n/.exec(text) ?? [];
  const identity = parseIdentity(shim);
  if (identity === null) return { kind: 'unreadable' };
  return { kind: 'begun', identity, cgroup: isRunCgroup(cgroup) ? cgroup : null };
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

const withdrawal = 'withdrawn by the supervisor';

function readIfThere(path: string): string | null {
  return textOrNull(path, LARGEST);
}
