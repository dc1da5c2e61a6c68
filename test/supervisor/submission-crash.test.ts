import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect } from 'vitest';
import { tiered } from '../tiers.js';
import { run, Testbed, waitFor } from './testbed.js';

const RUNS = 2500;
const environment = { PATH: process.env['PATH']! };

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

const planOf = (count: number) =>
  bed.plan(
    's',
    Array.from({ length: count }, (_, n) => ({ name: `r${n}`, group: `g${n % 2}` })),
    [{ name: 'g0' }, { name: 'g1', needs: ['g0'] }],
  );

// The header, the clock and the slots come first; then three pages, the line that commits them, and two portions more.
const writes = ['4:after', '5:torn', '6:after', '7:torn', '7:after', '8:after'];

tiered(writes, 1)(
  'a supervisor that dies at write %s of a long submission has taken all of it, or nothing',
  async (at) => {
    const preload = `--import=${pathToFileURL(resolve('test/faults/die-at.mjs')).href}`;
    bed.give({ NODE_OPTIONS: preload, MEMRL_FAULT: `journal-write:${at}`, MEMRL_FAULT_LOG: bed.path('deaths') });
    const first = await bed.fleet();
    expect(await first.submit(planOf(RUNS), environment, { slots: 0, gpus: 'none' })).toMatchObject({ ok: false });
    first.close();
    await waitFor('its death', () => bed.supervisorPid() === null);
    expect(bed.text('deaths')).not.toBe('');

    bed.give({ MEMRL_FAULT: '' });
    const second = await bed.fleet();
    const isCommitted = Number(at.split(':')[0]) > 7 || at === '7:after';
    await waitFor('all that was promised', () => second.runs.size === (isCommitted ? RUNS : 0));
    expect(bed.text('.supervisor', 'log')).not.toContain('damaged');

    expect(await second.submit(planOf(RUNS), environment, { slots: 0, gpus: 'none' })).toMatchObject({ ok: true });
    expect(second.runs.size).toBe(RUNS);
    expect(run(second, 's/r2499')).toMatchObject({ state: 'queued', attempt: 0 });
    expect(run(second, 's/r2499').reason).toMatch(/^waiting for g0 \(0 of 1250 done\)$/);
  },
);
