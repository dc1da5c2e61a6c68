import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import type { Ending, LaunchSpec } from '../executor.js';
import { attemptObstacle, exitObstacle, readClaim, readExitCode, readShellWords } from './attempt-files.js';
import { NOT_OURS, NOT_RUN } from './shim.js';
import { problemOf } from './command-problem.js';

export function isSigkill(ending: Ending): boolean {
  return ending.kind === 'signalled' && ending.signal === 'SIGKILL';
}

/**
 * The shell says 127 or 126 for a command that it cannot find or execute; we say why. Only then: to look for every command
 * beforehand would take a fifth of the time of a short run.
 */
export function explained(ending: Ending, spec: LaunchSpec): Ending {
  if (ending.kind !== 'exited' || (ending.code !== 127 && ending.code !== 126)) return ending;
  const reason = problemOf(spec);
  return reason === null ? ending : { kind: 'not-begun', reason };
}

/** What the operating system said of the shim itself, and who that was; null: this process was not its parent. */
export type ShimStatus = { pid: number; code: number | null; signal: NodeJS.Signals | null } | null;

/** What the shim has said, which settles it; null when it has not, so that the command may still live. */
export function provenEnding(directory: string, status: ShimStatus): Ending | null {
  const code = readExitCode(directory);
  if (code !== null) return fromShell(code, directory);
  if (status === null || status.code === null || status.code === NOT_RUN) return null;
  if (status.code === NOT_OURS && isUnclaimed(directory, status.pid)) return { kind: 'not-claimed' };
  return fromShell(status.code, directory);
}

/**
 * The ending of an attempt whose shim died and said nothing, once nothing of it lives any more.
 *
 * @param outlived Whether something of it lived on after the shim: then it ended in its own way, which nobody saw.
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

/** The shim's file is there without its line, or has another shim's, or could not be made where there is a place for it. */
function isUnclaimed(directory: string, shim: number): boolean {
  const claim = readClaim(directory);
  if (claim.kind === 'begun') return claim.identity.pid !== shim;
  return claim.kind !== 'none' || existsSync(directory);
}

/** It was not killed by us, nor is it our child: the shim itself had no chance, or nowhere to write. */
function whyUnknown(directory: string): string {
  const obstacle = attemptObstacle(directory);
  if (obstacle !== null) return obstacle;
  const unread = exitObstacle(directory);
  if (unread !== null) return unread;
  if (!existsSync(directory)) return 'its directory was deleted while it ran, and its exit code with it';
  if (existsSync(join(directory, runFiles.exit))) return 'its exit code could not be written (is the disk full?)';
  return 'its process is gone and left no exit code';
}

/** A shell says 128 + n for a command that died of signal n, as for one that ended itself with that code. */
function fromShell(code: number, directory: string): Ending {
  const signal = code > 128 ? names.get(code - 128) : undefined;
  if (signal === undefined) return { kind: 'exited', code };
  const isSignal = untold.has(signal) || readShellWords(directory).signalled !== false;
  return isSignal ? { kind: 'signalled', signal } : { kind: 'exited', code };
}

/** No shell says a word of these two: a program that leaves with 130 or 141 means them, too. */
const untold = new Set(['SIGINT', 'SIGPIPE']);

/** Some numbers have two names; the usual one comes first. */
const names = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);
