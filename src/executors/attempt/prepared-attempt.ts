import { existsSync, fstatSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { attemptSeparator } from '../../contract/attempt-separator.js';
import { runFiles } from '../../contract/files.js';
import { hasRoom } from '../../files/disk-room.js';
import { keepTables } from '../../files/kept/kept-tables.js';
import { claimDirectory } from '../../files/run-directory/own-directory.js';
import { type Obstacle, openForAppending } from '../../files/regular-file.js';
import { writeFresh } from '../../files/whole-file.js';
import type { LaunchSpec, Start } from '../executor.js';
import { attemptDirectory, attemptObstacle } from './attempt-files.js';

export type Refusal = Extract<Start, { kind: 'refused' }>;

/** Errors that a machine may recover from. */
const shortages: Readonly<Record<string, string>> = {
  EAGAIN: 'the machine is out of processes',
  EMFILE: 'the supervisor is out of open files',
  ENFILE: 'the machine is out of open files',
  ENOMEM: 'the machine is out of memory',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
};

/** Creates the files of an attempt in its run's directory. `log`: its log, which the caller closes. */
export function openedLog(spec: LaunchSpec): { kind: 'opened'; log: number } | Refusal {
  try {
    const obstacle = claimed(spec);
    if (obstacle !== null) return { kind: 'refused', reason: obstacle, transient: false };
    if (!hasRoom(spec.directory)) return full(spec.directory);
    if (spec.attempt > 1) keepTables(spec.directory, spec.attempt);
    for (const [name, text] of Object.entries(spec.files ?? {})) writeFresh(join(spec.directory, name), text);
    const opened = reopenedLog(spec);
    if (opened.kind === 'opened') separate(opened.log, spec.attempt);
    return opened;
  } catch (error) {
    return refusal(error, `cannot write to ${spec.directory}`);
  }
}

/** The log of an attempt that `openedLog` has prepared in another process; the caller closes it. */
export function reopenedLog({ directory }: LaunchSpec): { kind: 'opened'; log: number } | Refusal {
  try {
    const opened = openForAppending(join(directory, runFiles.log));
    return opened.kind === 'file' ? { kind: 'opened', log: opened.descriptor } : unwritable(directory, opened);
  } catch (error) {
    return refusal(error, `cannot write to ${directory}`);
  }
}

/** Creates the directory of the attempt. @returns Why nothing can be started there, in words; null: it can. */
function claimed({ directory, attempt }: LaunchSpec): string | null {
  // A shim would wait for ever for the reader of a pipe in the place of its file.
  return claimDirectory(directory, attempt) ?? attemptObstacle(attemptDirectory(directory, attempt));
}

function unwritable(directory: string, obstacle: Obstacle): Refusal {
  const why = obstacle.kind === 'unreadable' ? obstacle.reason : 'it is gone';
  return { kind: 'refused', reason: `cannot write to ${join(directory, runFiles.log)}: ${why}`, transient: false };
}

/** Checked before the start, as an attempt that the shim cannot claim is used up. */
function full(directory: string): Refusal {
  return { kind: 'refused', reason: `cannot write to ${directory}: ${shortages['ENOSPC']}`, transient: true };
}

export function refusal(error: unknown, what: string): Refusal {
  const code = codeOf(error);
  const shortage = shortages[code];
  return { kind: 'refused', reason: `${what}: ${shortage ?? code}`, transient: shortage !== undefined };
}

/** The path of `nice`, which executes the command in its place, so that the shim has one child in either case. */
export function niceProgram(): string {
  return existsSync('/usr/bin/nice') ? '/usr/bin/nice' : 'nice';
}

function separate(log: number, attempt: number): void {
  if (fstatSync(log).size === 0) return;
  say(log, `\n${attemptSeparator(attempt, new Date())}\n`);
}

/** Writes a line to a run's log, if possible: a full disk must not hide the reason from the user's screen. */
export function say(log: number, text: string): void {
  try {
    writeSync(log, text);
  } catch {
    // Nothing better to do with it.
  }
}

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
