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
import { attemptSeparator, runFiles } from '../../contract/files.js';
import { hasRoom } from '../../files/disk-room.js';
import { keepTables } from '../../files/kept/kept-tables.js';
import { type Obstacle, openForAppending } from '../../files/regular-file.js';
import { claimDirectory } from '../../files/run-directory/own-directory.js';
import { writeFresh } from '../../files/whole-file.js';
import { hostIdentity } from '../../processes/process-identity.js';
import { startDetached } from '../../processes/started-program.js';
import type { LaunchSpec, Start } from '../executor.js';
import { attemptDirectory, attemptObstacle, placeWord } from './attempt-files.js';
import { carried } from './environment-carrier.js';

export type Refusal = Extract<Start, { kind: 'refused' }>;

/** `child`: the shim. */
type ShimStart = Extract<Start, { kind: 'started' }> & { child: ReturnType<typeof startDetached> };

/** Read at startup, while files can be opened, as a missing part would make it a different place. */
const place = placeWord(hostIdentity());

/**
 * Starts the shim in a session of its own, writing directly to `output.log`, so that neither the end of the terminal nor that of
 * the supervisor affects it. Returns at once. A failure is in `reason` and, if possible, in the log.
 *
 * @param cgroup The attempt's cgroup for the shim to enter; null: none.
 * @param job See `ExecutorSetting`.
 */
export function startAttempt(spec: LaunchSpec, cgroup: string | null, job?: string): ShimStart | Refusal {
  const opened = job === undefined ? openedLog(spec) : reopenedLog(spec);
  if (opened.kind === 'refused') return opened;
  const { log } = opened;
  try {
    const start = launch(spec, log, shimArguments(spec, cgroup, job));
    // Transient failures are not logged, as the start is tried many times.
    if (start.kind === 'refused' && !start.transient) say(log, `memrl-tui: ${start.reason}\n`);
    return start;
  } finally {
    closeSync(log);
  }
}

/** The words after `/bin/sh` that start the shim of an attempt, with its command. @param cgroup As in `startAttempt`, like `job`. */
export function shimArguments(spec: LaunchSpec, cgroup: string | null, job?: string): string[] {
  const { directory, attempt, argv, environment, nice, input } = spec;
  return [
    '-c',
    SHIM,
    'memrl-shim',
    // Without links: at its end the shim compares it, to notice whether another directory has replaced its own.
    realpathSync.native(attemptDirectory(directory, attempt)),
    cgroup ?? '',
    job === undefined ? place : `${place} job ${job}`,
    input === 'lines' ? input : '',
    ...(nice === undefined ? [] : [niceProgram(), '-n', String(nice)]),
    ...carried(argv, environment),
  ];
}

function launch(spec: LaunchSpec, log: number, shim: readonly string[]): ShimStart | Refusal {
  const { cwd, environment } = spec;
  try {
    const child = startDetached('/bin/sh', shim, { cwd, env: environment, output: log });
    if (child.pid !== undefined) return { kind: 'started', child, pid: child.pid };
    const reason = problemOf(spec);
    // Node reports the reason only later. The shim itself is always executable, so if the folder is accessible, it is a shortage.
    if (reason !== null) return { kind: 'refused', reason, transient: false };
    return { kind: 'refused', reason: 'the machine is out of processes or open files', transient: true };
  } catch (error) {
    const tooBig = 'arguments and environment are too long for the system';
    if (codeOf(error) === 'E2BIG') return { kind: 'refused', reason: tooBig, transient: false };
    return refusal(error, 'could not be started');
  }
}

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
function reopenedLog({ directory }: LaunchSpec): { kind: 'opened'; log: number } | Refusal {
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

/** Why the command of an attempt cannot be started, in words; null: no problem was found. */
export function problemOf({ argv, cwd, environment }: LaunchSpec): string | null {
  return commandProblem(argv[0] ?? '', cwd, environment['PATH'] ?? '');
}

/** Why a command cannot be started, in words; null: no problem was found. A relative path is relative to `cwd`. */
export function commandProblem(command: string, cwd: string, path: string): string | null {
  const place = placeProblem(cwd);
  if (place !== null) return place;
  if (command.includes('/')) return fileProblem(isAbsolute(command) ? command : resolve(cwd, command));
  const candidates = path.split(':').map((folder) => resolve(cwd, join(folder, command)));
  if (candidates.some((candidate) => fileProblem(candidate) === null)) return null;
  // The shell would have taken the first existing file.
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

/**
 * Why the interpreter of a script cannot be started: if its first line names a missing program, the shell reports "not found" for
 * the script.
 */
function interpreterProblem(file: string): string | null {
  const interpreter = /^#!\s*([^\s\0]+)(\r?)/.exec(firstBytes(file));
  if (interpreter === null) return null;
  const [, program, windows] = interpreter;
  if (windows !== '') return `${file} has Windows line ends, so its interpreter is not found`;
  return existsSync(program!) ? null : `the interpreter of ${file} does not exist: ${program}`;
}

/** The first bytes of a file, of which the kernel reads no more. Empty if it may be executed but not read. */
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

/**
 * The parent of every run: a few lines of POSIX shell, because a Node process in its place would cost 40 MB and 90 ms.
 *
 * Called as `sh -c SHIM memrl-shim ATTEMPT_DIRECTORY CGROUP PLACE INPUT COMMAND [ARGUMENTS…]`, as the leader of its own session.
 *
 * - It first creates `pid`, which must not exist yet. The creator of that file owns the attempt, so an attempt can begin only once:
 *   if the file exists, or cannot be written, the shim exits with 75 and the command never runs. Its line identifies the process and
 *   its place (see `attempt-files.ts`).
 * - Before that it enters the cgroup, if one is given (else it is empty) and lets it in; the line then ends in its path.
 * - Signals are caught, not ignored, so that the command gets the default dispositions back and the shim outlives it.
 * - The command is executed by a subshell, never run by the shell itself, which would take `cd` or `exit` for its own.
 *   No variable of the user's environment has the name of a variable here.
 * - INPUT is `lines` if the command reads typed lines (else it is empty). Its standard input is then a pipe, `stdin`, which the
 *   command itself has open for reading and writing: reading waits for the next line and never finds an end, whoever dies. If the
 *   disk has no pipes, the log has the reason, and the standard input is as empty as without INPUT.
 * - Only the shell knows some facts about the end, and prints them to its stderr: `Killed`, or that it cannot fork. So its
 *   stderr is `pid`, after the first line, and the command gets the log, which the shell keeps as descriptor 3. bash says
 *   it only when it does not try to be another shell.
 * - A SIGTERM is noted in `pid` before `exit` is written: whoever finds the code knows whether the command ended by itself.
 * - `exit` gets the code and a newline. No newline: not finished. Its time is the time of the end. A disk that is full has
 *   room left in the last block of `pid`, so the code is noted there; so it is where somebody has put something else in the
 *   place of `exit`, as to open a pipe would wait for its reader; and where a link leads to another directory than the one that
 *   was given, without links, and is not the shim's own, moved: that may be another run's.
 * - A shell that cannot fork ends without a code: it notes that the command was not run and leaves with 76.
 */
export const SHIM = `memrl_d=$1; memrl_c=$2; memrl_p=$3; memrl_i=$4; memrl_rc=; shift 4
trap : HUP TERM INT QUIT USR1 USR2
set -C
if read -r memrl_s 2>/dev/null < /proc/$$/stat; then
  read -r memrl_b < /proc/sys/kernel/random/boot_id; memrl_s="$memrl_s $memrl_b"
else
  memrl_s="$$ lstart $(LC_ALL=C ps -o lstart= -p $$)"
fi
memrl_s="$memrl_s at $memrl_p"
if [ "$memrl_c" ] && { echo 0 >| "$memrl_c/cgroup.procs"; } 2>/dev/null; then memrl_s="$memrl_s cgroup $memrl_c"; fi
{ echo "$memrl_s" > "$memrl_d/pid"; } 2>/dev/null || exit 75
trap '[ "$memrl_rc" ] || { { echo "not run" >> "$memrl_d/pid"; } 2>/dev/null; exit 76; }' 0
case \${BASH_VERSION-} in ?*) command set +o posix 2>/dev/null;; esac
exec 3>&2 2>>"$memrl_d/pid"
trap 'echo "got SIGTERM" >&2' TERM
[ ! "$memrl_i" ] || command -p mkfifo -m 600 "$memrl_d/stdin" 2>&3 || memrl_i=
(if [ "$memrl_i" ]; then exec <> "$memrl_d/stdin"; fi; exec "$@") 2>&3 3>&-
memrl_rc=$?
{ cd -P "$memrl_d" && { [ "$PWD" = "$memrl_d" ] || [ pid -ef /dev/fd/4 ]; } && [ ! -e exit ] && echo "$memrl_rc" > exit; } 4>&2 2>/dev/null || echo "exit $memrl_rc" >&2
exit "$memrl_rc"`;

/** Exit code of the shim when it could not claim the attempt. */
export const NOT_OURS = 75;

/** Exit code of the shim when no process could be created for its command. */
export const NOT_RUN = 76;
