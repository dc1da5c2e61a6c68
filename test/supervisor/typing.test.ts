import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import { orderOf } from '../../src/protocol/run-verbs.js';
import { hasProgram } from '../has-program.js';
import { run, Testbed, untilSettled, waitFor } from './testbed.js';

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

const [asking, silent] = ['s/asking', 's/silent'].map((id) => RunId.parse(id));

it('a line is typed into a run, by a supervisor that adopted it too, and is in its log alone', async () => {
  const fleet = await bed.fleet();
  const script = 'while printf "? "; read -r line; do echo "got $line"; if [ "$line" = end ]; then exit 7; fi; done';
  const plan = bed.plan('s', [
    { name: 'asking', argv: ['sh', '-c', script], input: 'lines' },
    { name: 'silent', argv: ['sh', '-c', 'read -r line'] },
  ]);
  await fleet.submit(plan, { PATH: process.env['PATH']! }, { slots: 1, gpus: 'none' });
  await waitFor('the question', () => bed.text('s', 'asking', 'output.log').endsWith('? '));
  await waitFor('the row to say so', () => run(fleet, asking!).reason === 'waits for input');
  expect(run(fleet, asking!)).toMatchObject({ state: 'running', input: 'lines' });

  const both = await fleet.act(orderOf('type', 'hush-hush'), [asking!, silent!]);
  expect(both).toEqual({
    ok: true,
    message: '1 run given the line; 1 not: s/silent reads nothing that is typed',
  });
  await waitFor('the answer', () => bed.text('s', 'asking', 'output.log').includes('got hush-hush\n'));

  const long = await fleet.act(orderOf('type', 'x'.repeat(5000)), [asking!]);
  expect(long).toMatchObject({ ok: false, message: 's/asking cannot be given a line of more than 4095 bytes' });

  await bed.killSupervisor();
  await waitFor('the next supervisor', () => fleet.connection === 'connected' && bed.supervisorPid());
  expect(await fleet.act(orderOf('type', 'end'), [asking!])).toMatchObject({ ok: true });
  await untilSettled(fleet);
  expect(run(fleet, asking!)).toMatchObject({ state: 'failed', exit: { code: 7 }, attempt: 1 });
  expect(bed.text('s', 'asking', 'output.log')).toBe('? hush-hush\ngot hush-hush\n? end\ngot end\n');
  expect(readFileSync(bed.path('.supervisor', 'journal.jsonl'), 'utf8')).not.toContain('hush-hush');
  expect(await fleet.act(orderOf('type', 'x'), [asking!])).toMatchObject({
    ok: false,
    message: 's/asking has ended already (failed)',
  });
});

it.runIf(hasProgram('tmux', 'a run with a terminal'))(
  'a run with a terminal is adopted, typed into and killed like any other',
  async () => {
    const fleet = await bed.fleet();
    const script = 'trap "" TERM; test -t 0 && echo begun; read -r line; echo "got $line"; while :; do sleep 0.1; done';
    const plan = bed.plan('s', [{ name: 'asking', argv: ['sh', '-c', script], input: 'terminal', grace: 0.2 }]);
    await fleet.submit(plan, { PATH: process.env['PATH']! }, { slots: 1, gpus: 'none' });
    await waitFor('the run', () => bed.text('s', 'asking', 'output.log').includes('begun'));
    await bed.killSupervisor();
    await waitFor('the next supervisor', () => fleet.connection === 'connected' && bed.supervisorPid());
    expect(await fleet.act(orderOf('type', 'a line'), [asking!])).toMatchObject({ ok: true });
    await waitFor('the answer', () => bed.text('s', 'asking', 'output.log').includes('got a line'));
    await fleet.act('kill', [asking!]);
    await untilSettled(fleet);
    expect(run(fleet, asking!)).toMatchObject({ state: 'killed', attempt: 1, warning: null });
  },
);
