import { type ChildProcess, spawn } from 'node:child_process';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { attemptSeparator } from '../../contract/attempt-separator.js';
import { runFiles } from '../../contract/files.js';
import { claimDirectory } from '../../files/own-directory.js';
import { type Obstacle, openForAppending } from '../../files/regular-file.js';
import { writeFresh } from '../../files/whole-file.js';
import { hostIdentity } from '../../processes/host-identity.js';
import type { LaunchSpec, Start } from '../executor.js';
import { attemptDirectory, attemptObstacle } from './attempt-files.js';
import { placeWord } from './claim-text.js';
import { hasRoom } from '../../files/disk-room.js';
import { carried } from './environment-carrier.js';
import { SHIM } from './shim.js';

/** `child`: the shim. */
type ShimStart = Extract<Start, { kind: 'started' }> & { child: ChildProcess };
type Refusal = Extract<Start, { kind: 'refused' }>;

/** Read while files can be opened: what could not be read would make this another place. */
const place = placeWord(hostIdentity());

/** What a machine is short of now and may have again later. */
const shortages: Readonly<Record<string, string>> = {
  EAGAIN: 'the machine is out of processes',
  EMFILE: 'the supervisor is out of open files',
  ENFILE: 'the machine is out of open files',
  ENOMEM: 'the machine is out of memory',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
};

/**
 * Starts the shim in a session of its own, writing straight to `output.log`: neither the end of the terminal nor of the
 * supervisor reaches it. Returns at once. What stands in the way is told in `reason` and, if it can be, in the log.
 *
 * @param cgroup The attempt's own, for the shim to enter; null: none.
 */
export function startAttempt(spec: LaunchSpec, cgroup: string | null): ShimStart | Refusal {
  const opened = openedLog(spec);
  if (opened.kind === 'refused') return opened;
  const { log } = opened;
  try {
    const start = launch(spec, log, cgroup);
    // What passes by itself is not worth a line for every time it is tried.
    if (start.kind === 'refused' && !start.transient) say(log, `memrl-tui: ${start.reason}\n`);
    return start;
  } finally {
    closeSync(log);
  }
}

/** Makes what an attempt must find in its run's directory. `log`: its log, which the caller closes. */
export function openedLog(spec: LaunchSpec): { kind: 'opened'; log: number } | Refusal {
  try {
    const obstacle = claimed(spec);
    if (obstacle !== null) return { kind: 'refused', reason: obstacle, transient: false };
    if (!hasRoom(spec.directory)) return full(spec.directory);
    for (const [name, text] of Object.entries(spec.files ?? {})) writeFresh(join(spec.directory, name), text);
    const opened = openForAppending(join(spec.directory, runFiles.log));
    if (opened.kind !== 'file') return unwritable(spec.directory, opened);
    separate(opened.descriptor, spec.attempt);
    return { kind: 'opened', log: opened.descriptor };
  } catch (error) {
    return refusal(error, `cannot write to ${spec.directory}`);
  }
}

/** Makes the directory of the attempt. @returns Why nothing can be started there, in words; null: it can. */
function claimed({ directory, attempt }: LaunchSpec): string | null {
  // A shim would wait for ever at a pipe in the place of its file.
  return claimDirectory(directory, attempt) ?? attemptObstacle(attemptDirectory(directory, attempt));
}

function unwritable(directory: string, obstacle: Obstacle): Refusal {
  const why = obstacle.kind === 'unreadable' ? obstacle.reason : 'it is gone';
  return { kind: 'refused', reason: `cannot write to ${join(directory, runFiles.log)}: ${why}`, transient: false };
}

/** Said before the shim finds it out: an attempt that it cannot claim is used up. */
function full(directory: string): Refusal {
  return { kind: 'refused', reason: `cannot write to ${directory}: ${shortages['ENOSPC']}`, transient: true };
}

function launch(spec: LaunchSpec, log: number, cgroup: string | null): ShimStart | Refusal {
  const { directory, attempt, argv, cwd, environment, nice } = spec;
  const args = [
    '-c',
    SHIM,
    'memrl-shim',
    // Without links: by that the shim knows at its end whether another directory has taken the place of its own.
    realpathSync.native(attemptDirectory(directory, attempt)),
    cgroup ?? '',
    place,
    ...(nice === undefined ? [] : [niceProgram(), '-n', String(nice)]),
    ...carried(argv, environment),
  ];
  try {
    const child = spawn('/bin/sh', args, { detached: true, stdio: ['ignore', log, log], cwd, env: environment });
    // Without a listener a failed spawn would end the supervisor; the missing pid tells us all the same.
    child.on('error', () => undefined);
    child.unref();
    if (child.pid !== undefined) return { kind: 'started', child, pid: child.pid };
    const reason = problemOf(spec);
    // Node tells why only later. The shim can always be executed, so if the folder can be entered, it is a shortage.
    if (reason !== null) return { kind: 'refused', reason, transient: false };
    return { kind: 'refused', reason: 'the machine is out of processes or open files', transient: true };
  } catch (error) {
    const tooBig = 'arguments and environment are too long for the system';
    if (codeOf(error) === 'E2BIG') return { kind: 'refused', reason: tooBig, transient: false };
    return refusal(error, 'could not be started');
  }
}

/** It becomes the command, so that the shim has one child with or without it. */
export function niceProgram(): string {
  return existsSync('/usr/bin/nice') ? '/usr/bin/nice' : 'nice';
}

export function refusal(error: unknown, what: string): Refusal {
  const code = codeOf(error);
  const shortage = shortages[code];
  return { kind: 'refused', reason: `${what}: ${shortage ?? code}`, transient: shortage !== undefined };
}

/** Why the command of an attempt cannot be started, in words; null when nothing is wrong with it. */
export function problemOf({ argv, cwd, environment }: LaunchSpec): string | null {
  return commandProblem(argv[0] ?? '', cwd, environment['PATH'] ?? '');
}

function separate(log: number, attempt: number): void {
  if (fstatSync(log).size === 0) return;
  say(log, `\n${attemptSeparator(attempt, new Date())}\n`);
}

/** The log is a courtesy: a full disk must not keep the reason from the person's screen. */
function say(log: number, text: string): void {
  try {
    writeSync(log, text);
  } catch {
    // Nothing better to do with it.
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

/** Why this command cannot be started, in words; null when nothing is seen that stands in its way. A relative path is meant from `cwd`. */
export function commandProblem(command: string, cwd: string, path: string): string | null {
  const place = placeProblem(cwd);
  if (place !== null) return place;
  if (command.includes('/')) return fileProblem(isAbsolute(command) ? command : resolve(cwd, command));
  const candidates = path.split(':').map((folder) => resolve(cwd, join(folder, command)));
  if (candidates.some((candidate) => fileProblem(candidate) === null)) return null;
  // The shell would have taken the first that is there.
  const there = candidates.find((candidate) => existsSync(candidate));
  return there === undefined ? `command not found: ${command}` : fileProblem(there);
}

function placeProblem(cwd: string): string | null {
  try {
    if (!statSync(cwd).isDirectory()) return `working directory ${cwd} is not a directory`;
    accessSync(cwd, constants.X_OK);
    return null;
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return `working directory ${cwd} ${missing ? 'does not exist' : 'cannot be entered'}`;
  }
}

function fileProblem(file: string): string | null {
  if (!existsSync(file)) return `command not found: ${file}`;
  const about = statSync(file);
  if (!about.isFile()) return `${file} is not a program`;
  try {
    accessSync(file, constants.X_OK);
    return interpreterProblem(file);
  } catch {
    const isForAll = (about.mode & 0o111) === 0o111;
    return `${file} is not executable${isForAll ? ': its file system is mounted noexec' : ''}`;
  }
}

/** A script is found, and its shell says "not found" all the same, when its first line names a program that is not there. */
function interpreterProblem(file: string): string | null {
  const interpreter = /^#!\s*([^\s\0]+)(\r?)/.exec(firstBytes(file));
  if (interpreter === null) return null;
  const [, program, windows] = interpreter;
  if (windows !== '') return `${file} has Windows line ends, so its interpreter is not found`;
  return existsSync(program!) ? null : `the interpreter of ${file} does not exist: ${program}`;
}

/** The system looks at no more of it. Empty when it may be executed but not read. */
function firstBytes(file: string): string {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(256);
      return bytes.toString('utf8', 0, readSync(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}
