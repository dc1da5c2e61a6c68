import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { exitCodeIn } from '../../contract/exit-code.js';
import { runFiles } from '../../contract/files.js';
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

const withdrawal = 'withdrawn by the supervisor';

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
