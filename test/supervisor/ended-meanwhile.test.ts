import { existsSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Testbed, waitFor } from './testbed.js';

const environment = { PATH: process.env['PATH']! };

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

describe('a run that ends while there is no supervisor', () => {
  it('has ended in the first row that a client of the next one sees', async () => {
    const gate = bed.path('.gate');
    const wait = `while ! test -e ${gate}; do sleep 0.02; done`;
    const plan = bed.plan(
      's',
      Array.from({ length: 20 }, () => ({ argv: ['sh', '-c', wait] })),
    );
    const before = await bed.fleet();
    await before.submit(plan, environment, { slots: 20, gpus: 'none' });
    await waitFor(
      'the runs to be up',
      () => [...before.runs.values()].filter(({ state }) => state === 'running').length === 20,
    );
    before.close();
    await bed.killSupervisor();
    writeFileSync(gate, '');
    await waitFor('the runs to end', () =>
      plan.runs.every(({ name }) => existsSync(bed.path('s', name, 'attempts/1/exit'))),
    );
    const after = await bed.fleet();
    expect([...after.runs.values()].map(({ state }) => state)).toEqual(plan.runs.map(() => 'done'));
  });
});
