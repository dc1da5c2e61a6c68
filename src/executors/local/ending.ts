import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { NOT_OURS } from './shim.js';
import { readClaim, readExitCode } from './attempt-files.js';

/** How the process of an attempt ended, before anyone asks what that means for the run. */
export type Ending =
  | { kind: 'exited'; code: number }
  | { kind: 'signalled'; signal: string }
  /** The kernel killed it for want of memory. */
  | { kind: 'out-of-memory'; reason: string }
  /** The command was never run. */
  | { kind: 'not-begun'; reason: string }
  /** Nobody can know. */
  | { kind: 'unknown'; reason: string };

/** What the shim's files say. `status` is what the operating system said of the shim itself, if this process was its parent. */
export function endingOf(
  directory: string,
  status: { code: number | null; signal: NodeJS.Signals | null } | null,
): Ending {
  const code = readExitCode(directory);
  if (code !== null) return fromShell(code);
  if (status?.code === NOT_OURS && readClaim(directory).kind !== 'begun') {
    return { kind: 'not-begun', reason: 'could not write its pid file: is the disk full?' };
  }
  if (status?.signal) return { kind: 'signalled', signal: status.signal };
  if (typeof status?.code === 'number') return fromShell(status.code);
  return { kind: 'unknown', reason: whyUnknown(directory) };
}

/** It was not killed by us, nor is it our child: the shim itself had no chance, or nowhere to write. */
function whyUnknown(directory: string): string {
  if (!existsSync(directory)) return 'its directory was deleted while it ran, and its exit code with it';
  if (existsSync(join(directory, runFiles.exit))) return 'its exit code could not be written (is the disk full?)';
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
