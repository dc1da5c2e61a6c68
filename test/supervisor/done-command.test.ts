import { mkdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fleet } from '../../src/client/fleet.js';
import type { PlannedRun } from '../../src/spec/planned-run.js';
import { run, Testbed, untilSettled, untilState } from './testbed.js';

const environment = { PATH: process.env['PATH']!, TOKEN: 'of the launch' };
/** Done where there is a model in its directory, and the environment is that of the launch. */
const done: PlannedRun['done'] = {
  command: [
    'sh',
    '-c',
    'echo asked >> asked; test "$TOKEN" = "of the launch" && test "$PWD" = "$MEMRL_RUN_DIR" && test -s model || { echo no model; exit 1; }',
  ],
};

let bed: Testbed;
let fleet: Fleet;
beforeEach(async () => {
  bed = new Testbed();
  fleet = await bed.fleet();
});
afterEach(() => bed.close());

describe('a run that is done when a command says so', () => {
  it('is done, or has failed with what the command said, and is not asked about again', async () => {
    const plan = bed.plan('s', [
      { argv: ['sh', '-c', 'echo 1 > $MEMRL_RUN_DIR/model'], done },
      { argv: ['true'], done },
      { argv: ['sh', '-c', 'exit 3'], done },
    ]);
    await fleet.submit(plan, environment, { gpus: 'none', slots: 2 });
    await untilSettled(fleet);
    expect(run(fleet, 's/run0').state).toBe('done');
    expect(run(fleet, 's/run1')).toMatchObject({
      ...{ state: 'failed', reason: 'its done command ended with exit code 1 (no model)' },
    });
    expect(run(fleet, 's/run2')).toMatchObject({ state: 'failed', exit: { code: 3 } });
    expect([0, 1, 2].map((n) => bed.text(`s/run${n}/asked`))).toEqual(['asked\n', 'asked\n', '']);
    const ack = await fleet.submit(plan, environment, {});
    expect(ack).toEqual({ ok: true, message: '2 runs to do, 1 already done' });
    expect(bed.text('s/run0/asked')).toBe('asked\n');
  });

  it('is found done in what another program has left, before anything is started', async () => {
    for (const name of ['run0', 'run1', 'run2']) mkdirSync(bed.path('s', name), { recursive: true });
    for (const name of ['run0', 'run2']) writeFileSync(bed.path('s', name, 'model'), '1');
    const argv = ['sh', '-c', 'echo 1 > $MEMRL_RUN_DIR/model; echo ran'];
    const plan = bed.plan('s', [
      { argv, done },
      { argv, done },
      { argv, done: { file: 'model' } },
      { argv, done },
    ]);
    const ack = await fleet.submit(plan, environment, { gpus: 'none' });
    expect(ack).toEqual({ ok: true, message: '2 runs to do, 2 already done' });
    for (const name of ['s/run1', 's/run3']) await untilState(fleet, name, 'done');
    const logs = [0, 1, 2, 3].map((n) => bed.text(`s/run${n}/output.log`));
    expect(logs).toEqual(['', 'ran\n', '', 'ran\n']);
  });
});
