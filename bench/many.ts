import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureSupervisor } from '../src/client/ensure-supervisor.js';
import type { Fleet } from '../src/client/fleet.js';
import { identityOf } from '../src/processes/process-identity.js';
import type { Plan } from '../src/spec/planned-run.js';
import { lockPath, readLock } from '../src/supervisor/core/lock.js';
import { bundledSupervisor, plan, waitFor } from '../test/supervisor/testbed.js';
import { busyLines } from './support/busy.js';
import { cpuSeconds } from './support/process-figures.js';
import { median } from './support/quantile.js';

const RUNS = 50_000;
const ROUNDS = 3;
const budget = { submitMs: 5000, helloMs: 2000, rowsMs: 2000 };

/** After kill -9 of the one before: ms until hello and until a client has all rows, what the supervisor has cost by then. */
type Return = { hello: number; rows: number; cpu: number; peak: number };

/** One sweep of 50,000 runs, none of which may start: its submit, and a supervisor that comes back to it after kill -9. */
export async function benchMany(): Promise<string[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'many-')));
  try {
    const submitted = await submission(folder);
    const returns: Return[] = [];
    for (let round = 0; round < ROUNDS; round++) returns.push(await comeBack(folder));
    return [submitted, ...returnLines(returns), ...busyLines()];
  } finally {
    await killSupervisor(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function submission(folder: string): Promise<string> {
  const fleet = await open(folder);
  await fleet.ready();
  const pid = pidOf(folder)!;
  const sweep = sweepIn(folder);
  const before = cpuSeconds(pid);
  const start = performance.now();
  const ack = await fleet.submit(sweep, { PATH: process.env['PATH'] ?? '' }, { slots: 0, gpus: 'none' });
  const time = performance.now() - start;
  if (!ack.ok) throw new Error(ack.message);
  const cost = costOf(cpuSeconds(pid) - before, peakMegabytes(pid));
  fleet.close();
  return `submit ${RUNS} runs: ${time.toFixed(0)} ms; ${held(time, budget.submitMs)}; the supervisor takes ${cost}`;
}

async function comeBack(folder: string): Promise<Return> {
  await killSupervisor(folder);
  const start = performance.now();
  const fleet = await open(folder);
  const hello = performance.now() - start;
  await fleet.ready();
  const rows = performance.now() - start;
  if (fleet.runs.size !== RUNS) throw new Error(`${fleet.runs.size} of ${RUNS} runs are known`);
  const pid = pidOf(folder)!;
  const cost = { cpu: cpuSeconds(pid), peak: peakMegabytes(pid) };
  fleet.close();
  return { hello, rows, ...cost };
}

function returnLines(returns: readonly Return[]): string[] {
  const all = (key: keyof Return) => returns.map((each) => each[key]);
  const line = (what: string, key: 'hello' | 'rows', limit: number) => {
    const shown = all(key).map((ms) => ms.toFixed(0));
    return `${what}: median ${median(all(key)).toFixed(0)} ms (${shown.join(', ')}); ${held(median(all(key)), limit)}`;
  };
  return [
    line('up after kill -9, until hello', 'hello', budget.helloMs),
    line(`until a client has all ${RUNS} rows`, 'rows', budget.rowsMs),
    `  the supervisor has taken ${costOf(median(all('cpu')), median(all('peak')))} by then`,
  ];
}

/** As a sweep of somebody's: several parameters, a name and words of a length. */
function sweepIn(folder: string): Plan {
  const runs = Array.from({ length: RUNS }, (_, bins) => {
    const name = `A_bsweep_single_N64_B${bins}_s0`;
    const parameters = { N: 64, reward_bins: bins, seed: 0, lr: 0.001, env_type: 'single_step', n_batches: 20_000 };
    const words = Object.entries(parameters).map(([key, value]) => `${key}=${value}`);
    return { name, group: `g${bins % 5}`, parameters, argv: ['memrl', 'train', ...words] };
  });
  return plan(folder, 'big', runs);
}

async function open(folder: string): Promise<Fleet> {
  const supervisor = await bundledSupervisor();
  return ensureSupervisor(folder, { node: process.execPath, supervisor, bin: folder, environment: process.env });
}

function pidOf(folder: string): number | null {
  return readLock(lockPath(folder))?.pid ?? null;
}

async function killSupervisor(folder: string): Promise<void> {
  const pid = pidOf(folder);
  if (pid === null || identityOf(pid) === null) return;
  process.kill(pid, 'SIGKILL');
  await waitFor('the supervisor to be dead', () => identityOf(pid) === null);
}

/** NaN where there is no /proc. */
function peakMegabytes(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN) / 1024;
  } catch {
    return NaN;
  }
}

function costOf(cpu: number, peak: number): string {
  return `${cpu.toFixed(1)} s of CPU, ${peak.toFixed(0)} MB at most`;
}

function held(ms: number, limit: number): string {
  return `budget ${limit}: ${ms <= limit ? 'held' : 'MISSED'}`;
}
