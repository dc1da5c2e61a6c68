import { Testbed, waitFor } from '../test/supervisor/testbed.js';

const RUNS = 1000;
const BUDGET_MS = 1000;
const ROUNDS = 3;

/** From the start of a new supervisor, after kill -9 of the old one, until a client has all of its 1,000 live runs as running. */
export async function benchAdopt(): Promise<string[]> {
  const bed = new Testbed();
  try {
    const first = await bed.fleet();
    const runs = Array.from({ length: RUNS }, () => ({ argv: ['sleep', '600'] }));
    await first.submit(bed.plan('live', runs), { PATH: process.env['PATH']! }, { slots: RUNS, gpus: 'none' });
    await waitFor('all to be up', () => areUp(first.runs.values()), 120_000);
    first.close();
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await adoption(bed));
    const median = times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
    const shown = times.map((ms) => ms.toFixed(0)).join(', ');
    return [
      `adopt ${RUNS} live runs after kill -9: median ${median.toFixed(0)} ms until a client sees them all (${shown}); ` +
        `budget ${BUDGET_MS}: ${median <= BUDGET_MS ? 'held' : 'MISSED'}`,
      `an empty supervisor is up after ${(await emptyStart()).toFixed(0)} ms; no peer adopts what it did not start`,
    ];
  } finally {
    await bed.close();
  }
}

async function adoption(bed: Testbed): Promise<number> {
  await bed.killSupervisor();
  const start = performance.now();
  const fleet = await bed.fleet();
  await waitFor('all to be known', () => areUp(fleet.runs.values()));
  const time = performance.now() - start;
  fleet.close();
  return time;
}

async function emptyStart(): Promise<number> {
  const bed = new Testbed();
  const start = performance.now();
  await bed.fleet();
  const time = performance.now() - start;
  await bed.close();
  return time;
}

function areUp(rows: Iterable<{ state: string }>): boolean {
  const all = [...rows];
  return all.length === RUNS && all.every(({ state }) => state === 'running');
}
