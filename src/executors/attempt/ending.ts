import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import type { Ending, LaunchSpec } from '../executor.js';
import { attemptObstacle, exitObstacle, readClaim, readExitCode, readShellWords } from './attempt-files.js';
import { NOT_OURS, NOT_RUN, problemOf } from './start-attempt.js';

export function isSigkill(ending: Ending): boolean {
  return ending.kind === 'signalled' && ending.signal === 'SIGKILL';
}

/**
 * Adds the reason to an ending with code 127 or 126, with which the shell reports a command that it cannot find or execute. Only
 * then: checking every command beforehand would take a fifth of the time of a short run.
 */
export function explained(ending: Ending, spec: LaunchSpec): Ending {
  if (ending.kind !== 'exited' || (ending.code !== 127 && ending.code !== 126)) return ending;
  const reason = problemOf(spec);
  return reason === null ? ending : { kind: 'not-begun', reason };
}

/** How the shim process ended, by the operating system; null: it was not a child of this process. */
export type ShimStatus = { pid: number; code: number | null; signal: NodeJS.Signals | null } | null;

/** The ending by the shim's files, which is certain; null: there is none, so the command may still live. */
export function provenEnding(directory: string, status: ShimStatus): Ending | null {
  const code = readExitCode(directory);
  if (code !== null) return fromShell(code, directory);
  if (status === null || status.code === null || status.code === NOT_RUN) return null;
  if (status.code === NOT_OURS && isUnclaimed(directory, status.pid)) return { kind: 'not-claimed' };
  return fromShell(status.code, directory);
}

/**
 * The ending of an attempt whose shim died without an exit code, after none of its processes lives any more.
 *
 * @param outlived Whether processes lived longer than the shim: then the end was observed by nobody.
 */
export function unprovenEnding(directory: string, status: ShimStatus, outlived: boolean): Ending {
  if (outlived)
    return { kind: 'unknown', reason: 'its parent process was killed from outside, so its exit code is not known' };
  if (status?.code === NOT_RUN || readShellWords(directory).notRun) {
    return { kind: 'not-run', shortage: 'the machine is out of processes' };
  }
  if (status?.signal) return { kind: 'signalled', signal: status.signal };
  if (status === null && readClaim(directory).kind === 'unreadable') return { kind: 'not-claimed' };
  return { kind: 'unknown', reason: whyUnknown(directory) };
}

/** Whether a shim failed to claim its attempt: the file has no line, or another shim's, or could not be created. */
function isUnclaimed(directory: string, shim: number): boolean {
  const claim = readClaim(directory);
  if (claim.kind === 'begun') return claim.identity.pid !== shim;
  return claim.kind !== 'none' || existsSync(directory);
}

/** Why the end is unknown. We did not kill the shim, nor is it our child: it was killed, or could not write. */
function whyUnknown(directory: string): string {
  const obstacle = attemptObstacle(directory);
  if (obstacle !== null) return obstacle;
  const unread = exitObstacle(directory);
  if (unread !== null) return unread;
  if (!existsSync(directory)) return 'its directory was deleted while it ran, and its exit code with it';
  if (existsSync(join(directory, runFiles.exit))) return 'its exit code could not be written (is the disk full?)';
  return 'its process is gone and left no exit code';
}

/** Decodes a shell's exit code: 128 + n means that the command died of signal n, or exited with that code. */
function fromShell(code: number, directory: string): Ending {
  const signal = code > 128 ? names.get(code - 128) : undefined;
  if (signal === undefined) return { kind: 'exited', code };
  const isSignal = untold.has(signal) || readShellWords(directory).signalled !== false;
  return isSignal ? { kind: 'signalled', signal } : { kind: 'exited', code };
}

/** Signals for which shells print nothing: programs also exit with 130 or 141 on purpose. */
const untold = new Set(['SIGINT', 'SIGPIPE']);

/** Names by signal number; some have two names, of which the usual one comes first. */
const names = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);
