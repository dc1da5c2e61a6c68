import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { NOT_OURS } from './shim.js';
import { statRegular } from '../../files/regular-file.js';
import { attemptObstacle, obstacleWords, readClaim, readExitCode } from './attempt-files.js';

/** How the process of an attempt ended, before anyone asks what that means for the run. */
export type Ending =
  | { kind: 'exited'; code: number }
  | { kind: 'signalled'; signal: string }
  /** The kernel killed it for want of memory. */
  | { kind: 'out-of-memory'; reason: string }
  /** The command was never run, and would not be if it were tried again. */
  | { kind: 'not-begun'; reason: string }
  /** The command was never run, and its attempt can no longer begin: another one can, once there is room on the disk. */
  | { kind: 'not-claimed' }
  /** Nobody can know. */
  | { kind: 'unknown'; reason: string };

/** What the shim's files say. `status` is what the operating system said of the shim itself, if this process was its parent. */
export function endingOf(
  directory: string,
  status: { code: number | null; signal: NodeJS.Signals | null } | null,
): Ending {
  const code = readExitCode(directory);
  if (code !== null) return fromShell(code);
  if (status?.code === NOT_OURS && isUnclaimed(directory)) return { kind: 'not-claimed' };
  if (status?.signal) return { kind: 'signalled', signal: status.signal };
  if (typeof status?.code === 'number') return fromShell(status.code);
  return { kind: 'unknown', reason: whyUnknown(directory) };
}

/** The shim's file is there without its line, or could not be made where there is a place for it. */
function isUnclaimed(directory: string): boolean {
  const { kind } = readClaim(directory);
  return kind === 'unreadable' || kind === 'withdrawn' || (kind === 'none' && existsSync(directory));
}

/** It was not killed by us, nor is it our child: the shim itself had no chance, or nowhere to write. */
function whyUnknown(directory: string): string {
  const obstacle = attemptObstacle(directory);
  if (obstacle !== null) return obstacle;
  const exit = statRegular(join(directory, runFiles.exit));
  if (exit.kind === 'unreadable') return obstacleWords(directory, exit.reason);
  if (!existsSync(directory)) return 'its directory was deleted while it ran, and its exit code with it';
  if (exit.kind === 'file') return 'its exit code could not be written (is the disk full?)';
  return 'its process is gone and left no exit code';
}

/** A shell says 128 + n for a command that died of signal n. */
function fromShell(code: number): Ending {
  const signal = code > 128 ? names.get(code - 128) : undefined;
  return signal === undefined ? { kind: 'exited', code } : { kind: 'signalled', signal };
}

/** Some numbers have two names; the usual one comes first. */
const names = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);
