import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureSupervisor } from '../src/client/ensure-supervisor.js';
import type { Fleet } from '../src/client/fleet.js';
import { bundledSupervisor, plan } from '../test/supervisor/testbed.js';

const RUNS = 500;
const SLOTS = 2;

/** Milliseconds per run of 500 × `true` on two slots, through a real supervisor with its journal. Budget: 3.5 ms a run. */
export async function benchDispatch(): Promise<string[]> {
  const runs = realpathSync(mkdtempSync(join(tmpdir(), 'dispatch-')));
  const programs = {
    node: process.execPath,
    supervisor: await bundledSupervisor(),
    bin: runs,
    environment: process.env,
  };
  const coldStart = performance.now();
  const fleet = await ensureSupervisor(runs, programs);
  await fleet.ready();
  const up = performance.now() - coldStart;
  try {
    const times: number[] = [];
    for (const sweep of ['one', 'two', 'three']) times.push(await timeOf(fleet, runs, sweep));
    const perRun = times.map((ms) => ms / RUNS).sort((a, b) => a - b);
    const shown = perRun.map((ms) => ms.toFixed(2)).join(', ');
    return [
      `dispatch of ${RUNS} × true on ${SLOTS} slots: median ${perRun[1]!.toFixed(2)} ms a run (${shown}); budget 3.5`,
      `supervisor up and everything known after ${up.toFixed(0)} ms`,
    ];
  } finally {
    fleet.close();
    rmSync(runs, { recursive: true, force: true });
  }
}

/** From the answer to the submit, when the first run has been launched, to the end of the last. */
async function timeOf(fleet: Fleet, runs: string, sweep: string): Promise<number> {
  const all = plan(
    runs,
    sweep,
    Array.from({ length: RUNS }, () => ({ argv: ['true'] })),
  );
  const ack = await fleet.submit(all, { PATH: process.env['PATH'] ?? '' }, { slots: SLOTS });
  const start = performance.now();
  if (!ack.ok) throw new Error(ack.message);
  await fleet.until(({ status }) => status.settled);
  const time = performance.now() - start;
  const undone = [...fleet.runs.values()].filter(({ state }) => state !== 'done').length;
  if (undone > 0) throw new Error(`${undone} runs are not done`);
  return time;
}
