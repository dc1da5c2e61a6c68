import { closeSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { exitCodeIn } from '../../contract/run-record.js';
import { fileSystemTime } from '../../files/file-system-time.js';
import { makeFolder } from '../../files/make-folder.js';
import { openForAppending, readRegular, statRegular, textOrNull } from '../../files/regular-file.js';
import { ensureOwnDirectory } from '../../files/run-directory/own-directory.js';
import { linkNew, writeFresh } from '../../files/whole-file.js';
import { isRunCgroup } from '../../processes/cgroup.js';
import { type HostIdentity, parseIdentity, type ProcessIdentity } from '../../processes/process-identity.js';
import type { TakenOver } from '../executor.js';

/** Size limit of the files that a shim writes, in bytes. */
const LARGEST = 64 << 10;

export function attemptDirectory(runDirectory: string, attempt: number): string {
  return join(runDirectory, runFiles.attempts, String(attempt));
}

export function readClaim(directory: string): Claim {
  return parseClaim(readIfThere(join(directory, runFiles.pid)));
}

/** The claim of an attempt, or why its file cannot be read, in words. */
export function claimOrObstacle(directory: string): Claim | { kind: 'obstructed'; reason: string } {
  const read = readRegular(join(directory, runFiles.pid), LARGEST);
  if (read.kind === 'unreadable') return { kind: 'obstructed', reason: obstacleWords(directory, read.reason) };
  return parseClaim(read.kind === 'text' ? read.text : null);
}

/** The messages of the shim's shell about the command. */
export function readShellWords(directory: string): ShellWords {
  return shellWords(readIfThere(join(directory, runFiles.pid)));
}

/** Records that a user gives up an attempt whose processes cannot be reached, so that another may be started. */
export function giveUp(directory: string): void {
  try {
    const opened = openForAppending(join(directory, runFiles.pid));
    if (opened.kind !== 'file') return;
    writeFileSync(opened.descriptor, `${surrender}\n`);
    closeSync(opened.descriptor);
  } catch {
    // The user can ask again.
  }
}

export function isGivenUp(directory: string): boolean {
  return (readIfThere(join(directory, runFiles.pid)) ?? '').includes(`\n${surrender}\n`);
}

/**
 * Why the owner of an attempt cannot be determined, in words: its file is not a regular file, or the disk refuses it. Null: it can,
 * or there is none.
 */
export function attemptObstacle(directory: string): string | null {
  const there = statRegular(join(directory, runFiles.pid));
  return there.kind === 'unreadable' ? obstacleWords(directory, there.reason) : null;
}

export function obstacleWords(directory: string, reason: string): string {
  return `${runFiles.attempts}/${basename(directory)} cannot be read: ${reason}`;
}

/**
 * Ensures that an attempt will never start, by claiming it in the shim's place. Atomic: a claim without its line is a shim's.
 *
 * An attempt's directory is created before its shim starts, and each shim claims it before it does anything else. So if the
 * directory has no claim, no shim has begun the attempt; unless the machine crashed meanwhile, which may have lost the file.
 *
 * @returns Whether it never ran, as far as known; null: it had been claimed already. Throws when the file cannot be created for
 * another reason.
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

/** Whether the attempt was claimed before the last boot of the machine. */
export function isFromEarlierBoot(directory: string): boolean {
  const there = statRegular(join(directory, runFiles.pid));
  return there.kind === 'file' && isBeforeBoot(there.stat.mtimeMs, directory);
}

/** Uses the clock of the file system, as that of this machine may differ. */
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

/** Why the exit file is not readable though it may exist, in words; null: it is, or does not exist. */
export function exitObstacle(directory: string): string | null {
  const read = readRegular(join(directory, runFiles.exit), LARGEST);
  return read.kind === 'unreadable' ? obstacleWords(directory, read.reason) : null;
}

/** The exit code that the shim wrote; null: there is none (yet). */
export function readExitCode(directory: string): number | null {
  return exitCodeIn(readIfThere(join(directory, runFiles.exit)), () => readIfThere(join(directory, runFiles.pid)));
}

/** Time since the shim wrote that exit code, ms, by the clock of this machine; null: there is none. */
export function endedAgo(directory: string): number | null {
  const written = statRegular(join(directory, runFiles.exit));
  return written.kind === 'file' ? Math.max(0, Date.now() - written.stat.mtimeMs) : null;
}

function readIfThere(path: string): string | null {
  return textOrNull(path, LARGEST);
}

/**
 * Gives the orphan the later number, too: that attempt has the orphan's claim and will have its exit code, for this supervisor and
 * later ones. So no other process can begin it. Throws when the directory is not writable.
 */
export function succeed(runDirectory: string, { orphan, attempt }: TakenOver): void {
  ensureOwnDirectory(runDirectory);
  const directory = attemptDirectory(runDirectory, attempt);
  makeFolder(attemptDirectory(runDirectory, orphan));
  // An empty folder, which was created for a start that was postponed.
  rmSync(directory, { recursive: true, force: true });
  symlinkSync(String(orphan), directory);
}

/**
 * The lines of an attempt's `pid` file:
 *
 *     4711 (sh) S 1 … BOOT-ID at HOST/MACHINE-ID/PID-NAMESPACE job 12:KEY:0,1                     by the shim of a job of Slurm, with its GPUs
 *     4711 (sh) S 1 … BOOT-ID at HOST/MACHINE-ID/PID-NAMESPACE cgroup /sys/fs/cgroup/…/memrl/…   by the shim, when it begins
 *     Killed                                                                                    by its shell, of the command
 *     got SIGTERM                                                                               by the shim, which has got it too
 *     exit 137                                                                                  where `exit` had no room
 *
 * The first line is `/proc/PID/stat` and the boot id; without /proc (macOS) `PID lstart TIME`. Files of versions before this
 * have no place. A supervisor that wants the attempt never to begin writes `withdrawn by the supervisor` instead, and adds
 * `; its directory was gone` where it cannot tell whether the attempt had begun.
 */

/** The machine and namespace of the shim; its boot id is in the identity. */
type Place = Omit<HostIdentity, 'bootId'>;

/**
 * The owner of an attempt. `unreadable`: the file exists without its line (yet, or because the disk was full). `withdrawn`: a
 * supervisor claimed it so that it can never start; `neverRan`: it had not started before. `begun`: a shim claimed it, and entered
 * that cgroup, if any.
 */
export type Claim =
  | { kind: 'none' }
  | { kind: 'unreadable' }
  | { kind: 'withdrawn'; neverRan: boolean }
  /** `place` null: an earlier version wrote the claim without it. `job`: the Slurm job of the shim; absent: none. */
  | { kind: 'begun'; identity: ProcessIdentity; place: Place | null; job?: string; cgroup: string | null };

const withdrawal = 'withdrawn by the supervisor';
const wasGone = '; its directory was gone';

/** The line with which a supervisor claims an attempt. @param neverRan Whether the command is known not to have run. */
function withdrawalLine(neverRan: boolean): string {
  return `${withdrawal}${neverRan ? '' : wasGone}\n`;
}

/** The line that a supervisor adds when a user gives up an unreachable attempt. */
const surrender = 'given up';

/** @param text Text of the file; null: there is none. */
export function parseClaim(text: string | null): Claim {
  if (text === null) return { kind: 'none' };
  if (text.startsWith(withdrawal)) return { kind: 'withdrawn', neverRan: !text.includes(wasGone) };
  const [, shim = '', place, job, cgroup = ''] =
    /^(.*?)(?: (?:found )?at (\S+))?(?: job (\S+))?(?: cgroup (\/.*))?\n/.exec(text) ?? [];
  const identity = parseIdentity(shim);
  if (identity === null) return { kind: 'unreadable' };
  const begun = { kind: 'begun', identity, place: parsePlace(place) } as const;
  return { ...begun, cgroup: isRunCgroup(cgroup) ? cgroup : null, ...(job === undefined ? {} : { job }) };
}

/** A place as one word. */
export function placeWord({ host, machineId, pidNamespace }: Place): string {
  return [host, machineId, pidNamespace].map(encodeURIComponent).join('/');
}

/**
 * The first line for a live shim that was identified without its file. Its shell may write its messages to a deleted file. @param
 * stat Text of its `/proc/PID/stat`.
 */
export function claimLine(stat: string, { bootId, ...place }: HostIdentity, cgroup: string | null): string {
  const words = [stat.trim(), bootId, 'found', 'at', placeWord(place), ...(cgroup === null ? [] : ['cgroup', cgroup])];
  return `${words.join(' ')}\n`;
}

/** The messages of the shell about the command. */
type ShellWords = {
  /** Whether the command died of a signal; null: the shell's messages are not available. */
  signalled: boolean | null;
  /** Whether no process could be created for the command, so that it was not run. */
  notRun: boolean;
  /** Whether the shim got SIGTERM, as it does with its command from whoever ends all processes of a run. */
  terminated: boolean;
};

/**
 * Parses the messages of the shell. For a program that exits with 143 it reports the same code as for one that dies of SIGTERM, but
 * prints `Terminated` only for the latter. Its messages about failed forks do not concern the command.
 */
function shellWords(text: string | null): ShellWords {
  const [first = '', ...lines] = (text ?? '').split('\n');
  const said = lines.filter((line) => line !== '' && !/^exit \d+$/.test(line) && !ours.includes(line));
  const isOfCommand = said.some((line) => !/fork/i.test(line));
  const knows = /(?<! found) at \S+( job \S+)?( cgroup \/.*)?$/.test(first);
  return {
    signalled: knows ? isOfCommand : null,
    notRun: lines.includes('not run') && said.some((line) => /fork/i.test(line)),
    terminated: lines.includes('got SIGTERM'),
  };
}

const ours = ['not run', 'got SIGTERM', surrender];

function parsePlace(word: string | undefined): Place | null {
  const [host, machineId, pidNamespace, ...more] = (word ?? '').split('/').map(decoded);
  if (host === undefined || machineId === undefined || pidNamespace === undefined || more.length > 0) return null;
  return { host, machineId, pidNamespace };
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
