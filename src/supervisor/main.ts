/**
 * The supervisor as a program: `supervisor.js --runs DIRECTORY --bin FOLDER`.
 *
 * Started in the background by the first client; ends by itself. Killing it does no harm: runs go on, and the next one
 * takes them up. Its stdout and stderr are `.supervisor/log`.
 */
import { mkdirSync, realpathSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { UserError } from '../base/user-error.js';
import { identityOf } from '../executors/local/process-identity.js';
import { standing } from '../spec/standing.js';
import type { Surroundings } from './gpu-watch.js';
import { lockPath, type LockState, readLock, takeLock } from './lock.js';
import { isAnswered } from './presence.js';
import { Service, type ServiceOptions } from './service.js';
import { startProblem } from './start-problem.js';
import { socketAddress } from './socket-address.js';

try {
  await main();
} catch (cause) {
  const error = startProblem(cause);
  const isKnown = error instanceof UserError;
  log(isKnown ? `${error.message}\n→ ${error.fix}` : `bug: ${error instanceof Error ? error.stack : String(error)}`);
  process.exitCode = isKnown ? 2 : 1;
}

async function main(): Promise<void> {
  // What Node itself has to say goes the same way.
  process.stderr.on('error', () => undefined);
  const { runs: runsDirectory, bin } = options();
  const socket = socketAddress(runsDirectory, {
    runtimeDirectory: process.env['XDG_RUNTIME_DIR'],
    temporary: tmpdir(),
    uid: process.getuid?.() ?? 0,
  });
  if (readLock(lockPath(runsDirectory)) === null && (await isAnswered(socket))) {
    log(`a supervisor of ${runsDirectory} is there already, though someone has deleted its lock`);
    return;
  }
  const lock = takeLock(runsDirectory, { ...identityOf(process.pid)!, socket, version: 1 });
  if (lock.kind === 'held') {
    log(`process ${lock.by.pid} is the supervisor of ${runsDirectory} already`);
    return;
  }
  const isOurs = () => lock.look() !== 'lost';
  const given = { runsDirectory, bin, socket, isOurs, judge: standing, log, surroundings: surroundings() };
  try {
    await serve(given, lock.look);
  } finally {
    lock.release();
  }
  process.exit();
}

async function serve(options: ServiceOptions, look: () => LockState): Promise<void> {
  const told = untilTold();
  const service = await Service.start(options);
  log(`process ${process.pid} looks after ${options.runsDirectory}`);
  const idle = service.untilIdle().then(() => 'nothing left to do');
  const reason = await Promise.race([told, idle, untilReplaced(look, () => service.wake())]);
  await service.close(reason);
  log(`ends: ${reason}`);
}

/** Between looks at the lock, ms. */
const LOOK_MS = 1000;

/** Resolves when another supervisor has the lock. `retaken`: called when the lock, and perhaps more, had been deleted. */
async function untilReplaced(look: () => LockState, retaken: () => void): Promise<string> {
  for (;;) {
    await new Promise((resolveWait) => setTimeout(resolveWait, LOOK_MS));
    const state = stateOf(look);
    if (state === 'lost') return 'another supervisor has taken over the runs directory';
    if (state === 'retaken') log('someone had deleted the lock; it is made anew');
    if (state === 'retaken') retaken();
  }
}

/** Where the lock cannot be made anew (a full disk), nobody else can have it either. */
function stateOf(look: () => LockState): LockState {
  try {
    return look();
  } catch {
    return 'ours';
  }
}

/** A polite signal ends the supervisor, not the runs; the terminal's end is none of its business. */
function untilTold(): Promise<string> {
  process.on('SIGHUP', () => undefined);
  return new Promise((resolveReason) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolveReason(`got ${signal}`));
  });
}

/** `MEMRL_…`: for tests, and for whoever knows better than the supervisor. */
function surroundings(): Surroundings {
  const { env } = process;
  const numberIn = (name: string) => (env[name] === undefined ? undefined : Number(env[name]));
  return {
    environment: Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    leaseDirectory: env['MEMRL_LEASES'] ?? '/tmp/memrl-gpus',
    supervisor: identityOf(process.pid)!,
    uid: process.getuid?.() ?? 0,
    cgroups: env['MEMRL_CGROUP'] !== 'off',
    gpuEveryMs: numberIn('MEMRL_GPU_EVERY_MS'),
    gpuPatienceMs: numberIn('MEMRL_GPU_PATIENCE_MS'),
  };
}

/** One name for one directory, however it was spelt: lock and socket depend on it. */
function options(): { runs: string; bin: string } {
  const { values } = parseArgs({ options: { runs: { type: 'string' }, bin: { type: 'string' } } });
  if (values.runs === undefined || values.bin === undefined) {
    throw new UserError('The supervisor is started by memrl-tui, not by hand.', 'Run `memrl-tui SWEEP.yaml`.');
  }
  mkdirSync(values.runs, { recursive: true });
  return { runs: realpathSync(values.runs), bin: resolve(values.bin) };
}

/** On a disk that is full there is no log, and the supervisor goes on without: a stream would end it with an error. */
function log(line: string): void {
  try {
    writeSync(process.stderr.fd, `${new Date().toISOString()} ${line}\n`);
  } catch {
    // Nowhere else to say it.
  }
}
