import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { RunId } from '../../src/base/ids.js';
import { connect, ensureSupervisor, type Programs } from '../../src/client/ensure-supervisor.js';
import type { Fleet, RunSummary } from '../../src/client/fleet.js';
import { readClaim } from '../../src/executors/attempt/attempt-files.js';
import { identityOf, isAlive } from '../../src/processes/process-identity.js';
import { readLock } from '../../src/supervisor/core/lock.js';
import { bundled, testPrograms } from '../bundled.js';
import { isDeserted, isRemoved } from '../remove-folder.js';
import { type Plan, type PlannedRun, Resources, RetryRule } from '../../src/spec/planned-run.js';
import { PATIENCE_MS } from '../patience.js';

/** The supervisor as it is shipped, with its thread and the worker of packs beside it. */
export async function bundledSupervisor(): Promise<string> {
  // A bench measures what is shipped.
  if (process.env[testPrograms] === undefined) return resolve('dist/supervisor.js');
  const folder = await bundled('supervisor', {
    supervisor: 'src/supervisor/main.ts',
    'reader-thread': 'src/supervisor/reading/reader-thread.ts',
    'slurm-worker': 'src/executors/slurm/packs/pack-worker.ts',
  });
  return join(folder, 'supervisor.js');
}

/** Waits for a condition; the error names it. */
export async function waitFor<Value>(
  what: string,
  condition: () => Value | Promise<Value>,
  patienceMs = PATIENCE_MS,
): Promise<NonNullable<Value>> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A runs directory with a supervisor of its own; `close` ends everything that was started in it. */
export class Testbed {
  readonly runs = realpathSync(mkdtempSync(join(tmpdir(), 'runs-')));
  readonly #fleets: Fleet[] = [];
  #given: Readonly<Record<string, string>>;

  /** @param environment Of the supervisor, beside our own. */
  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#given = environment;
  }

  /** More for the environment of supervisors that are started from now on. */
  give(environment: Readonly<Record<string, string>>): void {
    this.#given = { ...this.#given, ...environment };
  }

  path(...parts: string[]): string {
    return join(this.runs, ...parts);
  }

  /** Text of a file below the runs directory; empty when there is none. */
  text(...parts: string[]): string {
    return existsSync(this.path(...parts)) ? readFileSync(this.path(...parts), 'utf8') : '';
  }

  async programs(): Promise<Programs> {
    const bin = this.path('.bin');
    mkdirSync(bin, { recursive: true });
    return { node: process.execPath, supervisor: await bundledSupervisor(), bin, environment: this.#environment() };
  }

  /** Connects, and starts a supervisor if need be. */
  async fleet(programs?: Programs): Promise<Fleet> {
    const fleet = await ensureSupervisor(this.runs, programs ?? (await this.programs()));
    this.#fleets.push(fleet);
    await fleet.ready();
    return fleet;
  }

  /** Connects to a supervisor that is up. */
  async attach(): Promise<Fleet | null> {
    const fleet = await connect(this.runs);
    if (fleet !== null) this.#fleets.push(fleet);
    await fleet?.ready();
    return fleet;
  }

  /** Starts a supervisor directly; `before`: shell commands to run first in its process. */
  async spawnSupervisor(before = ':'): Promise<ChildProcess> {
    const { supervisor, bin } = await this.programs();
    const words = [process.execPath, supervisor, '--runs', this.runs, '--bin', bin];
    return spawn('/bin/sh', ['-c', `${before}; exec "$@"`, 'sh', ...words], {
      stdio: 'ignore',
      env: this.#environment(),
    });
  }

  supervisorPid(): number | null {
    const lock = readLock(this.path('.supervisor', 'lock.json'));
    return lock !== null && isAlive(lock) ? lock.pid : null;
  }

  /** As a power cut would, for the supervisor alone. Resolves when it is gone. */
  async killSupervisor(): Promise<void> {
    const pid = this.supervisorPid();
    if (pid === null) throw new Error('there is no supervisor to kill');
    await endProcess(pid);
  }

  /** GPUs of tests are all called the same: supervisors of other tests must not see who has taken them. */
  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, MEMRL_LEASES: this.path('.leases'), ...this.#given };
  }

  plan(sweep: string, runs: Partial<PlannedRun>[], groups: { name: string; needs?: string[] }[] = []): Plan {
    return plan(this.runs, sweep, runs, groups);
  }

  /** What comes up meanwhile is ended, too: a client that had lost its supervisor may have asked for another. */
  async close(): Promise<void> {
    for (const fleet of this.#fleets) fleet.close();
    await waitFor('the runs directory to be gone', () => isDeserted(this.runs) && isRemoved(this.runs));
  }
}

async function endProcess(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
  await waitFor('the supervisor to be dead', () => identityOf(pid) === null);
}

/** A plan from what matters in a test. */
export function plan(
  runsDirectory: string,
  sweep: string,
  runs: Partial<PlannedRun>[],
  groups: { name: string; needs?: string[] }[] = [],
): Plan {
  const planned = runs.map((run, index): PlannedRun => {
    const name = run.name ?? `run${index}`;
    const group = run.group ?? 'main';
    return {
      id: RunId.parse(`${sweep}/${name}`),
      ...{ sweep, group, subgroup: null, name, parameters: { index }, identity: name },
      ...{ argv: ['true'], resumeArgs: [], env: {}, cwd: runsDirectory, directory: join(runsDirectory, sweep, name) },
      ...{ needs: groups.find((each) => each.name === group)?.needs ?? [], done: { exit: 0 as const }, stopWhen: null },
      resources: Resources.parse({ gpus: 0 }),
      ...{ timeout: null, priority: 0, retry: RetryRule.parse({}), objective: null, earlyTerminate: null },
      ...{ grace: 10, metrics: { show: [], x: 'step', progress: null } },
      ...run,
    };
  });
  const names = [...new Set([...groups.map(({ name }) => name), ...planned.map(({ group }) => group)])];
  return {
    sweep,
    description: null,
    notify: null,
    groups: names.map((name) => {
      return { name, title: null, needs: groups.find((each) => each.name === name)?.needs ?? [], breaker: null };
    }),
    runs: planned,
  };
}

export function run(fleet: Fleet, id: string): RunSummary {
  const found = fleet.runs.get(RunId.parse(id));
  if (found === undefined) throw new Error(`no run ${id} in ${[...fleet.runs.keys()].join(', ')}`);
  return found;
}

/** Waits until the run is in that state. */
export async function untilState(fleet: Fleet, id: string, state: RunSummary['state']): Promise<RunSummary> {
  return waitFor(`${id} to be ${state}`, () => {
    const found = fleet.runs.get(RunId.parse(id));
    return found?.state === state ? found : null;
  });
}

export async function untilSettled(fleet: Fleet): Promise<void> {
  await waitFor('everything to settle', () => fleet.status.settled && [...fleet.runs.values()].every(hasSettled));
}

function hasSettled({ state }: RunSummary): boolean {
  return !['starting', 'running', 'stopping'].includes(state);
}

/** Pid of the shim of an attempt. */
export function shimPid(directory: string, attempt = 1): number | null {
  const claim = readClaim(join(directory, 'attempts', String(attempt)));
  return claim.kind === 'begun' ? claim.identity.pid : null;
}
