/**
 * The supervisor as a program: `supervisor.js --runs DIRECTORY --bin FOLDER [--take-over]`.
 *
 * The first client starts it in the background; it exits by itself. Killing it does no harm: runs continue, and the next one adopts
 * them. Its stdout and stderr are `.supervisor/log`.
 */
import { realpathSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { untilWholeSecond } from '../base/lazy.js';
import { UserError } from '../base/user-error.js';
import { supervisorFiles } from '../contract/files.js';
import { ELSEWHERE, leaseTerms, type LeaseTerms, type SupervisorLock } from '../contract/supervisor-lock.js';
import { executorNamed } from '../executors/registry.js';
import { firstChange } from '../files/first-change.js';
import { checkRunsDirectory } from '../files/private-folder.js';
import { textOrNull } from '../files/regular-file.js';
import { keepSpareDescriptors } from '../files/spare-descriptor.js';
import { writeWhole } from '../files/whole-file.js';
import { hostIdentity, identityOf } from '../processes/process-identity.js';
import { completionOf } from '../spec/policy/completion.js';
import {
  fallsSilent,
  isAnsweringPing,
  Lease,
  lockPath,
  type LockState,
  readLock,
  startProblem,
  takeLock,
  type TakenLock,
} from './core/lock.js';
import { watchTurns } from './core/turn-watch.js';
import type { HostConfig } from './gpus/gpu-watch.js';
import type { HealthTimes } from './health/health-watch.js';
import { socketAddress } from '../files/socket-address.js';
import { openReaderThread } from './reading/reader-link.js';
import { Supervisor, type SupervisorOptions } from './supervisor.js';
import { makeFolder } from '../files/make-folder.js';

type Options = { runs: string; bin: string; takesOver: boolean };

async function main(): Promise<void> {
  // Node's own messages go the same way.
  process.stderr.on('error', () => undefined);
  keepSpareDescriptors();
  const { runs: runsDirectory, bin, takesOver } = options();
  await executorNamed(process.env['MEMRL_EXECUTOR'] ?? usualExecutor);
  const socket = addressOf(runsDirectory);
  if (readLock(lockPath(runsDirectory)) === null && (await isAnsweringPing(socket))) {
    log(`a supervisor of ${runsDirectory} is already running, although its lock was deleted`);
    return;
  }
  const terms = leaseTerms(process.env['MEMRL_LEASE_MS']);
  const isCrashed = readLock(lockPath(runsDirectory)) !== null;
  const own: SupervisorLock = { ...identityOf(process.pid)!, ...hostIdentity(), socket, version: 1 };
  const lock = await locked(runsDirectory, own, takesOver ? terms : null);
  if (lock === null) return;
  const isOurs = () => lock.look() !== 'lost';
  const executorName = chosenExecutor(runsDirectory, isCrashed);
  const given = {
    runsDirectory,
    executorName,
    openExecutor: await executorNamed(executorName),
    openReader: openReaderThread(new URL('./reader-thread.js', import.meta.url), {
      judgedFile: join(runsDirectory, supervisorFiles.directory, supervisorFiles.judged),
      summaries: join(runsDirectory, supervisorFiles.directory, supervisorFiles.summaries),
    }),
    bin,
    socket,
    isOurs,
    completionOf,
    log,
    host: hostConfig(),
    healthTimes: healthTimes(),
  };
  try {
    await serve(given, lock, terms);
  } finally {
    lock.release();
  }
  process.exit();
}

/**
 * The lock, or null if another supervisor has it, which is then reported. `terms`: an invisible owner is waited for, and replaced
 * if it sends no heartbeat during its lease; null: it is left alone.
 */
async function locked(runsDirectory: string, own: SupervisorLock, terms: LeaseTerms | null): Promise<TakenLock | null> {
  const found = takeLock(runsDirectory, own);
  if (found.kind === 'taken') return found;
  if (found.kind === 'elsewhere' && terms !== null && (await fallsSilent(new Lease(runsDirectory), terms))) {
    const result = takeLock(runsDirectory, own, found.by);
    if (result.kind === 'taken') log(`the lease of ${nameOf(found.by)} has expired: its runs directory is taken over`);
    if (result.kind === 'taken') return result;
  }
  log(`${nameOf(found.by)} is already the supervisor of ${runsDirectory}`);
  if (found.kind === 'elsewhere') process.exitCode = ELSEWHERE;
  return null;
}

const NOTHING_LEFT = 'nothing left to do';
const usualExecutor = 'local';

function executorFile(runsDirectory: string): string {
  return join(runsDirectory, supervisorFiles.directory, supervisorFiles.executor);
}

/**
 * The name of the executor whose runs may still be up, else of the requested one: runs are found by the executor that started them.
 * An earlier version, which only had the local one, did not record it.
 *
 * @param isCrashed The last supervisor did not exit by itself.
 */
function chosenExecutor(runsDirectory: string, isCrashed: boolean): string {
  const kept = textOrNull(executorFile(runsDirectory), 100)?.trim() ?? (isCrashed ? usualExecutor : null);
  const name = kept ?? process.env['MEMRL_EXECUTOR'] ?? usualExecutor;
  writeWhole(executorFile(runsDirectory), `${name}\n`, { mode: 0o600 });
  return name;
}

function nameOf({ pid, host }: SupervisorLock): string {
  return host === undefined || host === hostIdentity().host ? `process ${pid}` : `process ${pid} on ${host}`;
}

async function serve(options: SupervisorOptions, lock: TakenLock, terms: LeaseTerms): Promise<void> {
  const told = untilTold();
  const supervisor = await Supervisor.start(options);
  // No client could connect so far, so no turn delayed one.
  const turns = watchTurns(log, process.env['MEMRL_TURNS'] ?? null);
  log(`process ${process.pid} supervises ${options.runsDirectory}`);
  const idle = supervisor.untilIdle().then(() => NOTHING_LEFT);
  const leaving = new AbortController();
  const replaced = untilReplaced({ supervisor, lock, terms, leaving: leaving.signal }, options);
  const reason = await Promise.race([told, idle, replaced]);
  leaving.abort();
  await supervisor.close(reason);
  if (reason === NOTHING_LEFT) rmSync(executorFile(options.runsDirectory), { force: true });
  turns.close();
  log(`exits: ${reason}`);
}

/** Time until a socket that could not be created is tried again, ms. */
const AGAIN_MS = 1000;

/** `leaving`: aborted once the supervisor leaves, which removes its socket. */
type Held = { supervisor: Supervisor; lock: TakenLock; terms: LeaseTerms; leaving: AbortSignal };

/**
 * Maintains the lease, the lock and the socket, with each heartbeat and when the system reports a change of theirs; resolves when
 * another supervisor has the lock, or the directory is gone.
 */
async function untilReplaced(
  { supervisor, lock, terms, leaving }: Held,
  { runsDirectory, ...options }: Pick<SupervisorOptions, 'runsDirectory' | 'socket'>,
): Promise<string> {
  const lease = new Lease(runsDirectory);
  const { ino } = statSync(runsDirectory, { bigint: true });
  let { socket } = options;
  for (;;) {
    const beatMs = supervisor.isReachable ? terms.beatMs : Math.min(AGAIN_MS, terms.beatMs);
    const early = Math.max(0, beatMs - 1000);
    // At a whole second, as others wake the processor then, too.
    const wait = Math.min(beatMs, early + untilWholeSecond(performance.now() + early));
    const how = await firstChange([runsDirectory, lockPath(runsDirectory), socket], wait);
    if (leaving.aborted) return 'it leaves';
    // Checked before anything is written, which would create the directory again.
    const loss = lossOf(runsDirectory, ino, supervisor.isSettled);
    if (loss !== null) return loss;
    const state = stateOf(lock.look);
    if (state === 'lost') return 'another supervisor has taken over the runs directory';
    if (state === 'retaken') {
      log('the lock had been deleted; it is created again');
      supervisor.wake();
    }
    if (how === 'time is up') lease.renew();
    if (!supervisor.isReachable) socket = (await listenAnew(supervisor, lock, runsDirectory)) ?? socket;
  }
}

/**
 * Why the supervisor leaves, as files of its runs directory were deleted; null: it stays. Without runs it leaves with its lock, as
 * who deletes the directory begins with the files in it. Another supervisor continues from those that are left.
 */
function lossOf(runsDirectory: string, inode: bigint, isSettled: boolean): string | null {
  if (isGone(runsDirectory, inode)) return `its runs directory ${runsDirectory} is gone`;
  return isSettled && isGone(lockPath(runsDirectory)) ? 'its lock was deleted, and nothing is left to do' : null;
}

/** Whether the file, of this inode, was deleted or moved; another one may have its name. A failing file server decides nothing. */
function isGone(path: string, inode?: bigint): boolean {
  try {
    const there = statSync(path, { bigint: true, throwIfNoEntry: false });
    return there === undefined || (inode !== undefined && there.ino !== inode);
  } catch {
    return false;
  }
}

/**
 * Creates the socket again: on many machines the folder of sockets is removed with its user's last session, and created with the
 * next. Returns where it is; null: it cannot be created now.
 */
async function listenAnew(supervisor: Supervisor, lock: TakenLock, runsDirectory: string): Promise<string | null> {
  try {
    const socket = addressOf(runsDirectory);
    await supervisor.listen(socket);
    lock.moved(socket);
    log(`the socket was gone; it is created again: ${socket}`);
    return socket;
  } catch (error) {
    log(`the socket was gone, and cannot be created again: ${(error as Error).message}`);
    return null;
  }
}

/** The state of the lock. If it cannot be created again (a full disk), no other process can create it either. */
function stateOf(look: () => LockState): LockState {
  try {
    return look();
  } catch {
    return 'ours';
  }
}

/** SIGTERM ends the supervisor, not the runs; it ignores the end of the terminal. */
function untilTold(): Promise<string> {
  process.on('SIGHUP', () => undefined);
  return new Promise((resolveReason) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolveReason(`got ${signal}`));
  });
}

function addressOf(runsDirectory: string): string {
  return socketAddress(runsDirectory, {
    runtimeDirectory: process.env['XDG_RUNTIME_DIR'],
    temporary: tmpdir(),
    uid: process.getuid?.() ?? 0,
  });
}

/** Settings from `MEMRL_…` variables, for tests and special cases. */
function hostConfig(): HostConfig {
  const { env } = process;
  return {
    environment: Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    leaseDirectory: env['MEMRL_LEASES'] ?? '/tmp/memrl-gpus',
    supervisor: identityOf(process.pid)!,
    uid: process.getuid?.() ?? 0,
    gpuEveryMs: numberIn('MEMRL_GPU_EVERY_MS'),
    gpuPatienceMs: numberIn('MEMRL_GPU_PATIENCE_MS'),
  };
}

function healthTimes(): HealthTimes {
  return { everyMs: numberIn('MEMRL_HEALTH_EVERY_MS'), silenceMs: numberIn('MEMRL_SILENCE_MS') };
}

function numberIn(name: string): number | undefined {
  const text = process.env[name];
  return text === undefined ? undefined : Number(text);
}

/** The options. The runs directory is resolved to one name, as lock and socket depend on it. */
function options(): Options {
  const { values } = parseArgs({
    options: { runs: { type: 'string' }, bin: { type: 'string' }, 'take-over': { type: 'boolean' } },
  });
  if (values.runs === undefined || values.bin === undefined) {
    throw new UserError('The supervisor is started by memrl-tui, not by hand.', 'Run `memrl-tui SWEEP.yaml`.');
  }
  makeFolder(values.runs);
  const runs = realpathSync(values.runs);
  checkRunsDirectory(runs);
  return { runs, bin: resolve(values.bin), takesOver: values['take-over'] ?? false };
}

/**
 * Writes a line to the log. On a full disk there is none, and the supervisor continues without: a stream would end it with an
 * error.
 */
function log(line: string): void {
  try {
    writeSync(process.stderr.fd, `${new Date().toISOString()} ${line}\n`);
  } catch {
    // There is no other place to report it.
  }
}

// At the end of the file, as later declarations would not be initialized yet.
main().catch((cause: unknown) => {
  const error = startProblem(cause);
  const isKnown = error instanceof UserError;
  log(isKnown ? `${error.message}\n→ ${error.fix}` : `bug: ${error instanceof Error ? error.stack : String(error)}`);
  process.exitCode = isKnown ? 2 : 1;
});
