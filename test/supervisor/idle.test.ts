import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Fleet } from '../../src/client/fleet.js';
import { Testbed, untilState } from './testbed.js';

/** Of one core: of a supervisor that has nothing to do, and of one whose run does nothing but is looked after all the same. */
const IDLE = 0.001;
const LOOKING = 0.003;
const WINDOW_MS = 5000;
/** After its last work the engine clears up its memory, ten seconds and more; then there is nothing left to do. */
const WINDOWS = 10;

/** What all threads of a process have had of the processors so far, ms. */
function usedBy(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const used = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return used.reduce((sum, ns) => sum + ns / 1e6, 0);
}

/** The shares of a core that it takes from now on, until one of them is small enough. */
async function sharesOf(pid: number, most: number): Promise<number[]> {
  const shares: number[] = [];
  while (shares.length < WINDOWS && !shares.some((share) => share <= most)) {
    const [used, at] = [usedBy(pid), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
    shares.push((usedBy(pid) - used) / (performance.now() - at));
  }
  return shares;
}

async function withSleeper(bed: Testbed): Promise<Fleet> {
  const fleet = await bed.fleet();
  const plan = bed.plan('s', [{ argv: ['sleep', '1000'] }]);
  await fleet.submit(plan, { PATH: process.env['PATH']! }, { slots: 1, gpus: 'none' });
  await untilState(fleet, 's/run0', 'running');
  return fleet;
}

it
  .skipIf(!existsSync('/proc/self/schedstat'))
  .concurrent.each<{ who: string; most: number; come: (bed: Testbed) => Promise<unknown> }>([
    { who: 'a client that looks on', most: IDLE, come: (bed) => bed.fleet() },
    { who: 'a run that sleeps and a client', most: LOOKING, come: withSleeper },
    { who: 'a run that sleeps and nobody else', most: LOOKING, come: async (bed) => (await withSleeper(bed)).close() },
  ])(
  'a supervisor with $who takes $most of a core at most',
  async ({ come, most }) => {
    const bed = new Testbed();
    try {
      await come(bed);
      const shares = await sharesOf(bed.supervisorPid()!, most);
      expect(Math.min(...shares), `shares of a core: ${shares.join(', ')}`).toBeLessThanOrEqual(most);
    } finally {
      await bed.close();
    }
  },
  WINDOWS * WINDOW_MS + 30_000,
);
