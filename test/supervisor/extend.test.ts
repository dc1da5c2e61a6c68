import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import { run, Testbed, untilSettled, untilState, waitFor } from './testbed.js';

const environment = { PATH: process.env['PATH']! };

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

const openGate = () => writeFileSync(bed.path('gate'), '');
const budgets = (name: string) => bed.text(`budgets-${name}`).split('\n').filter(Boolean).map(Number);
const wish = { slots: 1, gpus: 'none' } as const;

/** A run that writes down its budget, waits for the gate, and ends with `code`. The budget is no part of what it is. */
function budgeted(name: string, n_batches: number, code = 0) {
  const script = `echo ${n_batches} >> ${bed.path('budgets')}-${name}; while ! test -e ${bed.path('gate')}; do sleep 0.05; done; exit ${code}`;
  return { name, identity: name, parameters: { n_batches }, argv: ['sh', '-c', script] };
}

/** With `a` up and `b` behind it, both of a budget of 10. */
async function launched(code = 0) {
  const fleet = await bed.fleet();
  await fleet.submit(bed.plan('s', [budgeted('a', 10, code), budgeted('b', 10)]), environment, wish);
  await waitFor('a to be up', () => budgets('a').length === 1);
  return fleet;
}

const extended = (code = 0) => bed.plan('s', [budgeted('a', 20, code), budgeted('b', 20)]);

describe('a run whose budget is raised', () => {
  it('while it waits starts with the new one', async () => {
    const fleet = await launched();
    await fleet.submit(extended(), environment, wish);
    openGate();
    await untilSettled(fleet);
    expect(budgets('b')).toEqual([20]);
    expect(run(fleet, 's/b').parameters).toEqual({ n_batches: 20 });
  });

  it('while it is up says so, goes on with the new one after its attempt, and is done only then', async () => {
    const fleet = await launched();
    expect(await fleet.submit(extended(), environment, wish)).toMatchObject({
      ok: true,
      message: '0 runs to do, 2 in progress (1 continues with its larger budget), 0 already done',
    });
    expect(run(fleet, 's/a').reason).toBe('continues with its larger budget after this attempt');
    openGate();
    await untilSettled(fleet);
    expect(budgets('a')).toEqual([10, 20]);
    expect(run(fleet, 's/a')).toMatchObject({ state: 'done', attempt: 2, parameters: { n_batches: 20 }, reason: null });
  });

  it('while it is up ends with its attempt where the file takes that back', async () => {
    const fleet = await launched();
    await fleet.submit(extended(), environment, wish);
    expect(run(fleet, 's/a').next).toEqual({ n_batches: 20 });
    const first = bed.plan('s', [budgeted('a', 10), budgeted('b', 10)]);
    expect(await fleet.submit(first, environment, wish)).toMatchObject({
      message: '0 runs to do, 2 in progress (1 no longer to continue after its present attempt), 0 already done',
    });
    expect(run(fleet, 's/a').next).toBeNull();
    openGate();
    await untilSettled(fleet);
    expect(budgets('a')).toEqual([10]);
    expect(budgets('b')).toEqual([10]);
  });

  it('keeps the slots and the priority that were set while it was up, and stands where the file has it', async () => {
    const fleet = await launched();
    await fleet.request({ verb: 'set-slots', slots: { slots: 0 } });
    await fleet.act({ verb: 'priority', priority: 7 }, [RunId.parse('s/b')]);
    const more = bed.plan('s', [budgeted('a', 20), budgeted('a2', 20), budgeted('b', 20)]);
    await fleet.submit(more, environment, {});
    await waitFor('the order of the file', () => [...fleet.runs.keys()].join() === 's/a,s/a2,s/b');
    expect(fleet.status.cpu.slots).toBe(0);
    expect(run(fleet, 's/b')).toMatchObject({ priority: 7, place: 2, parameters: { n_batches: 20 } });
    await bed.killSupervisor();
    await waitFor('the next supervisor', () => fleet.connection === 'connected' && bed.supervisorPid());
    const again = await bed.fleet();
    expect([...again.runs.keys()]).toEqual(['s/a', 's/a2', 's/b']);
    expect(again.status.cpu.slots).toBe(0);
    expect(run(again, 's/a').next).toEqual({ n_batches: 20 });
  });

  it('while it is up goes on all the same when the supervisor dies in between', { tags: ['long'] }, async () => {
    const fleet = await launched();
    await fleet.submit(extended(), environment, wish);
    await bed.killSupervisor();
    openGate();
    await waitFor('the next supervisor', () => fleet.connection === 'connected' && bed.supervisorPid());
    await waitFor('the second attempt', () => budgets('a').length === 2);
    await untilSettled(fleet);
    expect(budgets('a')).toEqual([10, 20]);
  });

  it('while it is up and then fails has the new one when it is tried again', async () => {
    const fleet = await launched(1);
    await fleet.submit(extended(), environment, wish);
    openGate();
    await untilState(fleet, 's/a', 'failed');
    expect(budgets('a')).toEqual([10]);
    await fleet.act('resume', [RunId.parse('s/a')]);
    await untilState(fleet, 's/a', 'done');
    expect(budgets('a')).toEqual([10, 20]);
  });

  it('while it is up and is then killed stays killed', async () => {
    const fleet = await launched();
    await fleet.submit(extended(), environment, wish);
    await fleet.act('kill', [RunId.parse('s/a')]);
    await untilState(fleet, 's/a', 'killed');
    openGate();
    await untilSettled(fleet);
    expect(run(fleet, 's/a')).toMatchObject({ state: 'killed', attempt: 1 });
  });

  it.each([
    { what: 'is left as it was', budget: 10 },
    { what: 'is made smaller', budget: 5 },
  ])('not when it $what', async ({ budget }) => {
    const fleet = await launched();
    await fleet.submit(bed.plan('s', [budgeted('a', budget), budgeted('b', 10)]), environment, wish);
    openGate();
    await untilSettled(fleet);
    expect(budgets('a')).toEqual([10]);
    expect(run(fleet, 's/a')).toMatchObject({ state: 'done', attempt: 1 });
  });
});
