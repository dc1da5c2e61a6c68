import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureSupervisor } from '../src/client/ensure-supervisor.js';
import type { Fleet } from '../src/client/fleet.js';
import type { SlurmOptions } from '../src/executors/executor.js';
import { programFile } from '../src/processes/program-file.js';
import { Resources } from '../src/spec/planned-run.js';
import { lockPath, readLock } from '../src/supervisor/core/lock.js';
import { bundledSupervisor, plan } from '../test/supervisor/testbed.js';

const RUNS = 500;
const QUEUED = 5000;
/** Jobs that one person has with Slurm at a time. */
const AT_ONCE = 1000;
const QUEUED_MS = 30_000;
const SINGLES = 40;
const SLOTS = 2;
const ROUNDS = 3;
const budget = { ofSbatch: 1 / 50, ofLocal: 1.5, submitMs: 3000, callsASecond: 1 };
const programs = ['sbatch', 'squeue', 'scancel', 'sacct', 'scontrol', 'sinfo'];

/**
 * Runs of `true` on a throw-away cluster with two slots: in packs, beside jobs of `sbatch` and beside this machine alone; and how
 * long it takes to submit runs that a cluster has no room for, with the calls that its controller gets.
 */
export async function benchSlurm(): Promise<string[]> {
  const environment = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` } as Record<string, string>;
  if (programFile('slurmctld', environment['PATH']!) === null) return ['Slurm is not installed: nothing to measure'];
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'slurm-bench-')));
  const own = { SLURM_DEV_DIR: join(folder, 'cluster'), SLURM_DEV_CPUS: String(SLOTS), SLURM_DEV_PORT: '25000' };
  const cluster = (verb: string) =>
    spawnSync('bash', [resolve('scripts/slurm-dev.sh'), verb], { env: { ...environment, ...own }, encoding: 'utf8' });
  const started = cluster('start');
  if (started.status !== 0) throw new Error(started.stderr);
  try {
    return await results(folder, { ...environment, SLURM_CONF: join(folder, 'cluster', 'slurm.conf') });
  } finally {
    cluster('stop');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function results(folder: string, environment: Record<string, string>): Promise<string[]> {
  const single = singles(environment);
  const times = { local: [] as number[], packs: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['local', 'packs'] as const) {
      const runs = join(folder, `${kind}${round}`);
      const [executor, slots] = kind === 'local' ? ['local', { slots: SLOTS }] : ['slurm', {}];
      times[kind].push(
        await withFleet(runs, { ...environment, MEMRL_EXECUTOR: executor }, (fleet) => timeOf(fleet, runs, slots)),
      );
    }
  }
  const [local, packs] = [median(times.local), median(times.packs)];
  return [
    `${SINGLES} × sbatch --wrap true on ${SLOTS} slots: ${single.toFixed(0)} ms a job`,
    `${RUNS} × true here, from the submit to the end of the last: ${(local / RUNS).toFixed(1)} ms a run (${words(times.local)})`,
    `the same by ${SLOTS} workers of a pack, the start of the workers included: ${(packs / RUNS).toFixed(1)} ms a run (${words(times.packs)})`,
    `that is ${(single / (packs / RUNS)).toFixed(0)} × faster than sbatch; ${held(packs / RUNS / single, budget.ofSbatch)}`,
    `and ${(packs / local).toFixed(2)} × as long as here; ${held(packs / local, budget.ofLocal)}`,
    ...(await queued(folder, environment, 'jobs')),
    ...(await queued(folder, environment, 'packs')),
    `load ${loadavg()[0]!.toFixed(1)}`,
  ];
}

/** Milliseconds for each of some jobs of their own. */
function singles(environment: Record<string, string>): number {
  const start = performance.now();
  for (let job = 0; job < SINGLES; job++)
    spawnSync('sbatch', ['-o', '/dev/null', '-J', 'single', '--wrap', 'true'], { env: environment });
  const isLeft = () =>
    spawnSync('squeue', ['-h', '-n', 'single'], { env: environment, encoding: 'utf8' }).stdout !== '';
  while (isLeft()) spawnSync('sleep', ['0.1']);
  return (performance.now() - start) / SINGLES;
}

/** Runs that wait in the queue of a full cluster: how long until they are submitted, and what the controller is asked meanwhile. */
async function queued(folder: string, environment: Record<string, string>, mode: 'jobs' | 'packs'): Promise<string[]> {
  const runs = join(folder, `queued-${mode}`);
  const counted = countedCalls(join(folder, `calls-${mode}`), environment);
  const blocker = spawnSync('sbatch', ['--exclusive', '-o', '/dev/null', '--wrap', 'sleep 600'], { env: environment });
  if (blocker.status !== 0) throw new Error('the cluster cannot be filled');
  const given = { ...counted.environment, MEMRL_EXECUTOR: 'slurm' };
  const jobs = mode === 'jobs' ? AT_ONCE : SLOTS;
  const { answered, inQueue, calls, seconds } = await withFleet(runs, given, async (fleet) => {
    const start = performance.now();
    await submit(fleet, runs, { count: QUEUED, slurm: { mode, workers: SLOTS }, slots: {} });
    const answered = performance.now() - start;
    const waiting = () =>
      spawnSync('squeue', ['-h', '-r', '-t', 'PD', '-o', '%i'], { env: environment, encoding: 'utf8' }).stdout;
    while (waiting().split('\n').length <= jobs) await new Promise((done) => setTimeout(done, 50));
    const inQueue = performance.now() - start;
    await new Promise((done) => setTimeout(done, QUEUED_MS));
    return { answered, inQueue, calls: counted.count(), seconds: (performance.now() - start) / 1000 };
  });
  spawnSync('scancel', ['-u', 'root'], { env: environment });
  return [
    `${QUEUED} runs as ${mode} for a full cluster: submitted after ${(answered / 1000).toFixed(2)} s, ` +
      `${jobs} jobs with Slurm after ${(inQueue / 1000).toFixed(2)} s; ${held(answered, budget.submitMs)}`,
    `  calls of Slurm's commands meanwhile: ${calls} in ${seconds.toFixed(0)} s; ${held(calls / seconds, budget.callsASecond)}`,
  ];
}

/** Commands of Slurm that write down that they were called. */
function countedCalls(folder: string, environment: Record<string, string>) {
  mkdirSync(folder);
  for (const name of programs) {
    const real = programFile(name, environment['PATH']!);
    writeFileSync(join(folder, name), `#!/bin/sh\necho ${name} >> ${folder}/log\nexec ${real} "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const log = join(folder, 'log');
  const count = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0);
  return { environment: { ...environment, PATH: `${folder}:${environment['PATH']}` }, count };
}

async function withFleet<Result>(
  runs: string,
  environment: Record<string, string>,
  use: (fleet: Fleet) => Promise<Result>,
): Promise<Result> {
  const supervisor = await bundledSupervisor();
  const fleet = await ensureSupervisor(runs, { node: process.execPath, supervisor, bin: runs, environment });
  await fleet.ready();
  try {
    return await use(fleet);
  } finally {
    fleet.close();
    const pid = readLock(lockPath(runs))?.pid;
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  }
}

async function timeOf(fleet: Fleet, runs: string, slots: Submitted['slots']): Promise<number> {
  const start = performance.now();
  await submit(fleet, runs, { count: RUNS, slurm: { mode: 'packs', workers: SLOTS }, slots });
  await fleet.until(({ status }) => status.settled);
  const undone = [...fleet.runs.values()].filter(({ state }) => state !== 'done').length;
  if (undone > 0) throw new Error(`${undone} runs are not done`);
  return performance.now() - start;
}

/** `slots`: of this machine; of Slurm there are as many as a supervisor grants. */
type Submitted = { count: number; slurm: SlurmOptions; slots: { slots?: number } };

async function submit(fleet: Fleet, runs: string, { count, slurm, slots }: Submitted): Promise<void> {
  const resources = Resources.parse({ gpus: 0, slurm });
  const all = plan(
    runs,
    's',
    Array.from({ length: count }, () => ({ argv: ['true'], resources })),
  );
  const ack = await fleet.submit(all, { PATH: process.env['PATH'] ?? '' }, slots);
  if (!ack.ok) throw new Error(ack.message);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function words(times: readonly number[]): string {
  return times.map((ms) => `${(ms / 1000).toFixed(2)} s`).join(', ');
}

function held(value: number, limit: number): string {
  return `budget ${limit}: ${value <= limit ? 'held' : 'MISSED'}`;
}
