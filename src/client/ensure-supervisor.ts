import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectSocket, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { errorText, UserError } from '../base/user-error.js';
import { runMarks, supervisorFiles } from '../contract/files.js';
import { ELSEWHERE, leaseTerms, SupervisorLock } from '../contract/supervisor-lock.js';
import { makeFolder } from '../files/make-folder.js';
import { checkRunsDirectory, socketProblem } from '../files/private-folder.js';
import { readRegular, statRegular, textOrNull } from '../files/regular-file.js';
import { startDetached } from '../processes/started-program.js';
import { PROTOCOL_VERSION } from '../protocol/message.js';
import { Fleet } from './fleet.js';

/** How to start a supervisor. Paths are absolute. */
export type Programs = {
  /** The Node executable. */
  node: string;
  /** `dist/supervisor.js`. */
  supervisor: string;
  /** Folder of our own programs, put at the end of the runs' PATH. */
  bin: string;
  /** The user's environment. Runs do not get it from here but from the submission. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Shows one line to the waiting user. */
  tell?: (line: string) => void;
};

/**
 * `takesOver`: may replace a supervisor on another host, or in another container, whose lease has expired. `patienceMs`: how long a
 * supervisor that neither answers nor ends is waited for.
 */
export type RequestedSupervisor = { takesOver?: boolean; patienceMs?: number };

/** Time limit for a supervisor to answer, ms. */
const PATIENCE_MS = 10_000;
/** How much longer the supervisor that was started is waited for while its process lives, and for its hello each time, ms. */
const SLOW_START_MS = 60_000;
const SLOW_HELLO_MS = 1000;
const LOOK_MS = 15;
/** Free space that a supervisor needs at least, for its lock and the first part of its journal, bytes. */
const ROOM = 1 << 14;
/** Pause between two checks whether a runs directory is still supervised from elsewhere, ms. */
const ELSEWHERE_MS = 10_000;
/**
 * A new supervisor exits with 0 when another one holds the lock. When none answers after this time, ms, the other one has ended
 * too, and a new one is started.
 */
const AGAIN_MS = 300;
/**
 * A small heap makes the start of a run cheap, as that cost grows with the supervisor's memory, most of which is room for
 * short-lived objects and uncollected garbage: 105 MB instead of 162 with 10,000 runs, at the same speed. Each thread that optimizes
 * functions keeps what it has used, some 9 MB together. The engine's reducer of memory would compute for a tenth of a second when a
 * supervisor comes to rest, and gain some 5 MB.
 */
const smallHeap = [
  '--max-semi-space-size=1',
  '--optimize-for-size',
  '--no-concurrent-recompilation',
  '--no-memory-reducer',
];

/**
 * The supervisor of this runs directory, if one is up; null otherwise.
 *
 * @param patienceMs How long a silent supervisor is waited for.
 */
export async function connect(runsDirectory: string, patienceMs?: number): Promise<Fleet | null> {
  const reopen = () => openSupervisor(runsDirectory, patienceMs);
  const socket = await reopen();
  return socket === null ? null : new Fleet(socket, reopen);
}

/**
 * The supervisor of this runs directory for a window that only looks. It is not started, as it would start runs that wait.
 *
 * @throws {UserError} When there is none, or the runs directory is not safe to use.
 */
export async function lookAtSupervisor(runsDirectory: string): Promise<Fleet> {
  return new Fleet(await openToLook(runsDirectory), () => openSupervisor(runsDirectory), 'looks');
}

/** The bare connection of `lookAtSupervisor`, on which hello is still to be read. */
export async function openToLook(runsDirectory: string): Promise<Socket> {
  const socket = await openSupervisor(runsDirectory);
  if (socket !== null) return socket;
  throw new UserError(
    `No supervisor is up for ${runsDirectory}, and a read-only window starts none.`,
    'Open a window without --read-only; `memrl-tui report` and `export` read the files.',
  );
}

/**
 * The supervisor of this runs directory, started in the background if none is up, and started again if it ends. A supervisor that
 * takes the directory over on another host is left alone, even where this call asked to take over.
 *
 * @throws {UserError} When it does not start, with the last lines of its log; when the runs directory is not safe to use, or is
 * supervised from elsewhere.
 */
export async function ensureSupervisor(
  runsDirectory: string,
  programs: Programs,
  { takesOver = false, patienceMs = PATIENCE_MS }: RequestedSupervisor = {},
): Promise<Fleet> {
  let elsewhereUntil = -Infinity;
  const reopen = async () => {
    if (performance.now() < elsewhereUntil) throw supervisedElsewhere(runsDirectory, programs);
    const socket = await openOrStart(runsDirectory, programs, patienceMs);
    if (socket === 'elsewhere') elsewhereUntil = performance.now() + ELSEWHERE_MS;
    if (socket === 'elsewhere') throw supervisedElsewhere(runsDirectory, programs);
    return socket;
  };
  const first = takesOver ? await openOrTakeOver(runsDirectory, programs) : await reopen();
  return new Fleet(first, reopen);
}

/**
 * As `ensureSupervisor`, once: the bare connection, on which hello is still to be read.
 *
 * @throws {UserError} As `ensureSupervisor`.
 */
export async function openOrStartSupervisor(
  runsDirectory: string,
  programs: Programs,
  takesOver: boolean,
): Promise<Socket> {
  const opened = takesOver
    ? await openOrTakeOver(runsDirectory, programs)
    : await openOrStart(runsDirectory, programs, PATIENCE_MS);
  if (opened === 'elsewhere') throw supervisedElsewhere(runsDirectory, programs);
  return opened;
}

async function openOrTakeOver(runsDirectory: string, programs: Programs): Promise<Socket> {
  const first = await openOrStart(runsDirectory, programs, PATIENCE_MS);
  if (first !== 'elsewhere') return first;
  const { leaseMs, beatMs } = termsOf(programs);
  const owner = lockOf(runsDirectory);
  programs.tell?.(
    `${owner === null ? 'Another process' : nameOf(owner)} supervises ${runsDirectory} and cannot be reached from here. ` +
      `It is taken over if it sends no heartbeat for ${leaseMs / 1000} s.`,
  );
  const taken = await startAndOpen(runsDirectory, programs, {
    words: ['--take-over'],
    patienceMs: PATIENCE_MS + leaseMs + 3 * beatMs,
    lookMs: 10 * LOOK_MS,
  });
  if (taken === 'elsewhere') throw supervisedElsewhere(runsDirectory, programs);
  return taken;
}

/** `elsewhere`: a process that cannot be seen from here supervises the directory. */
async function openOrStart(
  runsDirectory: string,
  programs: Programs,
  patienceMs: number,
): Promise<Socket | 'elsewhere'> {
  const end = performance.now() + patienceMs;
  const up = await openSupervisor(runsDirectory, patienceMs / 2);
  if (up !== null) return up;
  return startAndOpen(runsDirectory, programs, { words: [], patienceMs: end - performance.now(), lookMs: LOOK_MS });
}

type Start = { words: readonly string[]; patienceMs: number; lookMs: number };

async function startAndOpen(
  runsDirectory: string,
  programs: Programs,
  { words, patienceMs, lookMs }: Start,
): Promise<Socket | 'elsewhere'> {
  const log = join(runsDirectory, supervisorFiles.directory, supervisorFiles.log);
  let child = start(runsDirectory, programs, words);
  const end = performance.now() + patienceMs;
  let againAt = performance.now() + AGAIN_MS;
  const limit = () => (hasEnded(child) ? end : end + SLOW_START_MS);
  while (performance.now() < limit() && (child.exitCode ?? 0) === 0) {
    const socket = await openSupervisor(runsDirectory, Math.max(SLOW_HELLO_MS, end - performance.now()));
    if (socket !== null) return socket;
    if (hasEnded(child) && performance.now() > againAt) {
      child = start(runsDirectory, programs, words);
      againAt = performance.now() + AGAIN_MS;
    }
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  if (child.exitCode === ELSEWHERE) return 'elsewhere';
  throw problemOf(runsDirectory, log, child);
}

function problemOf(runsDirectory: string, log: string, { pid, exitCode }: ChildProcess): UserError {
  const owner = lockOf(runsDirectory);
  const isSilent = owner !== null && owner.pid !== pid && (exitCode ?? 0) === 0;
  return isSilent ? silent(runsDirectory, owner) : failed(runsDirectory, log);
}

/** The error for a lock holder that does not answer; a new supervisor exits at once in favour of it. */
function silent(runsDirectory: string, owner: SupervisorLock): UserError {
  const { pid } = owner;
  return new UserError(
    `${nameOf(owner)} supervises ${runsDirectory}, but does not answer.`,
    `If it is suspended, continue it: \`kill -CONT ${pid}\`. If it is stuck, \`memrl-tui restart\` replaces it; its runs keep running.`,
  );
}

function failed(runsDirectory: string, log: string): UserError {
  return new UserError(
    `The supervisor of ${runsDirectory} did not start.\n${obstacleIn(dirname(log)) ?? lastWords(log)}`,
    `Read ${log}, fix the cause and try again.`,
  );
}

function supervisedElsewhere(runsDirectory: string, programs: Programs): UserError {
  const owner = lockOf(runsDirectory);
  const name = owner === null ? 'another process' : nameOf(owner);
  const place = owner?.host === undefined ? 'there' : `on ${owner.host}`;
  return new UserError(
    `${runsDirectory} is supervised by ${name}, which cannot be reached from here.`,
    `Run memrl-tui ${place}. \`memrl-tui attach\` takes over here once that process has sent no heartbeat for ` +
      `${termsOf(programs).leaseMs / 1000} s.`,
  );
}

function termsOf({ environment }: Programs) {
  return leaseTerms(environment['MEMRL_LEASE_MS']);
}

/** `process 7 on beta`. An invisible process of the same host must be in a container. */
function nameOf({ pid, host }: SupervisorLock): string {
  if (host === undefined) return `process ${pid}`;
  return host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Starts a supervisor in a session of its own, so that it outlives the terminal; it writes to its log alone. */
function start(runsDirectory: string, programs: Programs, more: readonly string[]): ChildProcess {
  const { node, supervisor, bin, environment } = programs;
  checkRunsDirectory(runsDirectory);
  const output = openLog(join(runsDirectory, supervisorFiles.directory, supervisorFiles.log));
  // Without the marks of a run: a supervisor started from within a run would else be killed as a part of it.
  const marks = Object.values(runMarks) as string[];
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !marks.includes(name)));
  const words = [...smallHeap, supervisor, '--runs', runsDirectory, '--bin', bin, ...more];
  const child = startDetached(node, words, { env, output });
  closeSync(output);
  return child;
}

function openLog(log: string): number {
  try {
    makeFolder(dirname(log), 0o700);
    const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
    return openSync(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    throw new UserError(
      `Nothing can be written for the supervisor: ${(error as Error).message}.`,
      'Make it writable or free some space, or choose another runs directory with `--runs DIR`.',
      { cause: error },
    );
  }
}

/** Why a supervisor cannot write to this folder, and so cannot write its log either; null: it can. */
function obstacleIn(folder: string): string | null {
  const draft = join(folder, `room.${randomUUID()}.tmp`);
  try {
    writeFileSync(draft, Buffer.alloc(ROOM));
    return null;
  } catch (error) {
    return `Nothing can be written there: ${(error as Error).message}.`;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Only shorter logs are searched for the reason: a longer one repeats the same message, bytes. */
const LARGEST_LOG = 1 << 24;

function lastWords(log: string): string {
  return (textOrNull(log, LARGEST_LOG) ?? '').trimEnd().split('\n').slice(-5).join('\n');
}

/** How long a supervisor may take to send its hello, ms. */
const HELLO_MS = 5000;

/** Limit on the size of a lock file that is read, in bytes. */
const LARGEST_LOCK = 1 << 16;

/** The lock of this runs directory; null when there is none that can be read. Its owner may be dead. */
export function lockOf(runsDirectory: string): SupervisorLock | null {
  const path = join(runsDirectory, supervisorFiles.directory, supervisorFiles.lock);
  const read = readRegular(path, LARGEST_LOCK, { noLink: true });
  if (read.kind !== 'text') return null;
  try {
    return SupervisorLock.parse(JSON.parse(read.text));
  } catch {
    return null;
  }
}

/**
 * A socket to the supervisor of this runs directory, as `openSocket` returns it. Nothing is sent to a socket that another user may
 * have created.
 *
 * @throws {UserError} When the runs directory is not safe to use.
 */
async function openSupervisor(runsDirectory: string, patienceMs?: number): Promise<Socket | null> {
  checkRunsDirectory(runsDirectory);
  const socket = lockOf(runsDirectory)?.socket;
  return socket === undefined || socketProblem(socket) !== null ? null : openSocket(socket, patienceMs);
}

/**
 * A socket on which a supervisor has said hello (still to be read), or null when there is none. A connection alone proves nothing:
 * the kernel also accepts connections for a supervisor that was just killed.
 */
function openSocket(path: string, patienceMs = HELLO_MS): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connectSocket(path);
    const settle = (result: Socket | null) => {
      clearTimeout(timer);
      socket.removeAllListeners();
      if (result !== null) return resolve(result);
      socket.on('error', () => undefined);
      socket.destroy();
      resolve(null);
    };
    const timer = setTimeout(() => settle(null), patienceMs);
    // 'readable' is also emitted at the end of the stream, with nothing to read.
    socket.once('readable', () => settle(socket.readableLength > 0 ? socket : null));
    socket.once('error', () => settle(null));
    socket.once('close', () => settle(null));
  });
}

/**
 * What is known about the supervisor of a runs directory without starting one. `silent`: a process holds the lock and does not
 * answer, being dead or stuck. `isOurs`: it speaks the protocol of this program.
 */
export type SupervisorProbe =
  | { kind: 'none' }
  | { kind: 'unreadable'; reason: string }
  | { kind: 'silent'; lock: SupervisorLock }
  | { kind: 'answers'; lock: SupervisorLock; isOurs: boolean };

/** Looks for a supervisor. Never rejects; a stuck supervisor is given as long as in `openSocket`. */
export async function probeSupervisor(runsDirectory: string): Promise<SupervisorProbe> {
  const path = join(runsDirectory, supervisorFiles.directory, supervisorFiles.lock);
  try {
    checkRunsDirectory(runsDirectory);
  } catch (error) {
    return { kind: 'unreadable', reason: errorText(error) };
  }
  const there = statRegular(path);
  if (there.kind !== 'file') return there.kind === 'absent' ? { kind: 'none' } : there;
  const lock = lockOf(runsDirectory);
  if (lock === null) return { kind: 'unreadable', reason: 'it is not one' };
  const socket = socketProblem(lock.socket) === null ? await openSocket(lock.socket) : null;
  if (socket === null) return { kind: 'silent', lock };
  const heard = (socket.read() as Buffer | null)?.toString() ?? '';
  socket.destroy();
  const version = Number(/"version":\s*(\d+)/.exec(heard.split('\n', 1)[0]!)?.[1]);
  return { kind: 'answers', lock, isOurs: version === PROTOCOL_VERSION };
}
