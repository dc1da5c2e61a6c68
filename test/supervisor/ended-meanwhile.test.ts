import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunRecord } from '../../src/contract/run-record.js';
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

  it('has ended when it did, not when that was found out', { tags: ['long'] }, async () => {
    const gate = bed.path('.gate');
    const plan = bed.plan('s', [{ argv: ['sh', '-c', `while ! test -e ${gate}; do sleep 0.02; done`] }]);
    const { id, directory } = plan.runs[0]!;
    const before = await bed.fleet();
    await before.submit(plan, environment, { slots: 1, gpus: 'none' });
    await waitFor('the run to be up', () => before.runs.get(id)?.state === 'running');
    before.close();
    await bed.killSupervisor();
    writeFileSync(gate, '');
    const exit = join(directory, 'attempts/1/exit');
    await waitFor('the run to end', () => existsSync(exit));
    const ended = statSync(exit).mtimeMs;
    await waitFor('time to pass', () => Date.now() > ended + 2000);
    const after = await bed.fleet();
    expect(Math.abs(after.runs.get(id)!.endedAt! - ended)).toBeLessThan(1000);
    const record = RunRecord.parse(JSON.parse(readFileSync(join(directory, 'run.json'), 'utf8')));
    expect(record.attempts.at(-1)!.endedAt).toBe(after.runs.get(id)!.endedAt);
  });
});
