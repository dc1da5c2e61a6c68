import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockPath, readLock } from '../src/supervisor/core/lock.js';
import { ensureSupervisor } from '../src/client/ensure-supervisor.js';
import type { Fleet } from '../src/client/fleet.js';
import { SHIM } from '../src/executors/attempt/start-attempt.js';
import { bundledSupervisor, plan } from '../test/supervisor/testbed.js';

const FEW = 500;
const MANY = 10_000;
const SLOTS = 2;
const ROUNDS = 3;
const budget = { perRun: 3.5, flatness: 1.3, megabytes: 150 };

/**
 * Milliseconds per run of `true` on two slots, 500 and 10,000 at once, through a real supervisor with its journal; beside
 * others, and beside what Node needs merely to start as many shims.
 *
 * Nothing is removed before the end: for minutes after, ext4 passes over each inode that was freed whenever it makes a file.
 */
export async function benchDispatch(): Promise<string[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dispatch-')));
  try {
    return await results(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function results(folder: string): Promise<string[]> {
  const bare = await bareStarts(join(folder, 'bare'), FEW);
  const few = await timed(join(folder, 'few'), FEW, ROUNDS);
  const many = await timed(join(folder, 'many'), MANY, 1);
  const flatness = many.perRun / few.perRun;
  return [
    `${FEW} × true on ${SLOTS} slots: median ${few.perRun.toFixed(2)} ms a run (${few.shown}); ${held(few.perRun, budget.perRun)}`,
    `Node alone, starting ${FEW} shims two at a time: ${bare.toFixed(2)} ms each; the supervisor takes ${(few.perRun / bare).toFixed(2)} × that`,
    `${MANY} × true: ${many.perRun.toFixed(2)} ms a run, ${flatness.toFixed(2)} × as long; ${held(flatness, budget.flatness)}`,
    `the supervisor's memory: ${memory(few)} with ${ROUNDS * FEW} runs, ${memory(many)} with ${MANY}; ` +
      held(many.peak, budget.megabytes),
    ...(['parallel', 'tsp'] as const).flatMap((tool) => peer(tool, join(folder, tool), FEW)),
    ...peer('parallel', join(folder, 'parallel-many'), MANY),
    `supervisor up and everything known after ${few.up.toFixed(0)} ms; load ${loadavg()[0]!.toFixed(1)}`,
  ];
}

type Result = { perRun: number; shown: string; up: number; peak: number; now: number };

async function timed(runs: string, count: number, rounds: number): Promise<Result> {
  const supervisor = await bundledSupervisor();
  const coldStart = performance.now();
  const fleet = await ensureSupervisor(runs, {
    node: process.execPath,
    supervisor,
    bin: runs,
    environment: process.env,
  });
  await fleet.ready();
  const up = performance.now() - coldStart;
  try {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push((await timeOf(fleet, runs, `s${round}`, count)) / count);
    const perRun = times.toSorted((a, b) => a - b)[Math.floor(rounds / 2)]!;
    return { perRun, shown: times.map((ms) => ms.toFixed(2)).join(', '), up, ...memoryOf(runs) };
  } finally {
    fleet.close();
    // It would make its files anew while they are removed.
    const pid = readLock(lockPath(runs))?.pid;
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  }
}

/** From the answer to the submit, when the first run has been launched, to the end of the last. */
async function timeOf(fleet: Fleet, runs: string, sweep: string, count: number): Promise<number> {
  const all = plan(
    runs,
    sweep,
    Array.from({ length: count }, () => ({ argv: ['true'] })),
  );
  const ack = await fleet.submit(all, { PATH: process.env['PATH'] ?? '' }, { slots: SLOTS, gpus: 'none' });
  const start = performance.now();
  if (!ack.ok) throw new Error(ack.message);
  await fleet.until(({ status }) => status.settled);
  const time = performance.now() - start;
  const undone = [...fleet.runs.values()].filter(({ state }) => state !== 'done').length;
  if (undone > 0) throw new Error(`${undone} runs are not done`);
  return time;
}

/** Milliseconds per shim with `true` in it, two at a time, without a journal, a record or a client. */
async function bareStarts(folder: string, count: number): Promise<number> {
  let begun = 0;
  const next = async (): Promise<void> => {
    if (begun === count) return;
    const attempt = join(folder, String(begun++));
    mkdirSync(attempt, { recursive: true });
    const child = spawn('/bin/sh', ['-c', SHIM, 'memrl-shim', attempt, '', 'here', '', 'true'], {
      detached: true,
      stdio: 'ignore',
    });
    await new Promise((resolve) => child.once('exit', resolve));
    return next();
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: SLOTS }, next));
  return (performance.now() - start) / count;
}

/** Resident memory of the supervisor, MB; at its highest, and now. Zero where there is no /proc. */
function memoryOf(runs: string): Pick<Result, 'peak' | 'now'> {
  const pid = readLock(lockPath(runs))?.pid;
  const status = spawnSync('cat', [`/proc/${pid}/status`], { encoding: 'utf8' }).stdout;
  const megabytes = (key: string) => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return { peak: megabytes('VmHWM'), now: megabytes('VmRSS') };
}

function memory({ peak, now }: Result): string {
  return `${now.toFixed(0)} MB (peak ${peak.toFixed(0)})`;
}

function held(value: number, limit: number): string {
  return `budget ${limit}: ${value <= limit ? 'held' : 'MISSED'}`;
}

/** The same by another tool, with a log of what it ran; nothing where it is not installed. */
function peer(tool: 'parallel' | 'tsp', folder: string, count: number): string[] {
  mkdirSync(folder);
  const env = { ...process.env, TS_SOCKET: join(folder, 'socket'), TMPDIR: folder };
  const script = {
    parallel: `yes true | head -${count} | parallel -j${SLOTS} --joblog ${folder}/log`,
    tsp: `tsp -S ${SLOTS} && for i in $(seq ${count}); do tsp true > /dev/null; done && while tsp -l | grep -qE "running|queued"; do sleep 0.01; done`,
  }[tool];
  try {
    if (spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0) return [`${tool} is not installed: not compared`];
    const start = performance.now();
    const { status } = spawnSync('sh', ['-c', script], { env, stdio: 'ignore' });
    const time = performance.now() - start;
    if (status !== 0) return [`${tool} failed (${status}): not compared`];
    return [`  ${tool}, ${count} × true on ${SLOTS} slots: ${(time / count).toFixed(2)} ms a run`];
  } finally {
    if (tool === 'tsp') spawnSync('tsp', ['-K'], { env });
  }
}
