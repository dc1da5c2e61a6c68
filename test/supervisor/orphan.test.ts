import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import { placeWord } from '../../src/executors/attempt/attempt-files.js';
import { hostIdentity } from '../../src/processes/process-identity.js';
import { run, shimPid, Testbed, untilState, waitFor } from './testbed.js';

const environment = { PATH: process.env['PATH']! };
const warning = 'its parent process was killed from outside; its exit code will not be known';
const id = RunId.parse('s/a');

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

const starts = () => bed.text('starts').length / 2;
const openGate = () => writeFileSync(bed.path('gate'), '');

/** A run that is up: it counts its starts and waits for the gate. */
async function withLiveRun() {
  const fleet = await bed.fleet();
  const script = `echo x >> ${bed.path('starts')}; while ! test -e ${bed.path('gate')}; do sleep 0.05; done`;
  const plan = bed.plan('s', [{ name: 'a', argv: ['sh', '-c', script], grace: 0 }]);
  await fleet.submit(plan, environment, { slots: 1, gpus: 'none' });
  await waitFor('it to be up', () => starts() === 1);
  await waitFor('its process', () => run(fleet, 's/a').pid);
  return fleet;
}

async function nextSupervisor(fleet: Awaited<ReturnType<typeof withLiveRun>>, meanwhile = () => undefined as void) {
  fleet.close();
  await bed.killSupervisor();
  meanwhile();
  return bed.fleet();
}

describe('a run whose shim is killed from outside', () => {
  it(
    'goes on under this supervisor and the next, is started by nobody, and ends as lost',
    { tags: ['long'] },
    async () => {
      const fleet = await withLiveRun();
      const { pid } = run(fleet, 's/a');
      process.kill(shimPid(bed.path('s/a'))!, 'SIGKILL');
      await waitFor('the warning', () => run(fleet, 's/a').warning === warning);
      expect(run(fleet, 's/a')).toMatchObject({ state: 'running', pid });
      expect(await fleet.act('resume', [id])).toMatchObject({ ok: false });
      const next = await nextSupervisor(fleet);
      await waitFor('the warning', () => run(next, 's/a').warning === warning);
      expect(run(next, 's/a')).toMatchObject({ state: 'running', pid });
      openGate();
      const reason = 'its parent process was killed from outside, so its exit code is not known';
      expect(await untilState(next, 's/a', 'lost')).toMatchObject({ reason });
      expect(starts()).toBe(1);
      // Now that nothing of it lives, it may be tried again.
      expect(await next.act('resume', [id])).toMatchObject({ ok: true });
      expect(await untilState(next, 's/a', 'done')).toMatchObject({ attempt: 2 });
      expect(starts()).toBe(2);
    },
  );

  it('goes on when its directory is deleted, too, and can be killed', async () => {
    const fleet = await withLiveRun();
    const { pid } = run(fleet, 's/a');
    const next = await nextSupervisor(fleet, () => {
      process.kill(shimPid(bed.path('s/a'))!, 'SIGKILL');
      rmSync(bed.path('s/a'), { recursive: true });
    });
    await waitFor('its process', () => run(next, 's/a').pid === pid);
    expect(run(next, 's/a')).toMatchObject({ state: 'running' });
    await next.act('kill', [id]);
    await untilState(next, 's/a', 'killed');
    expect(starts()).toBe(1);
  });
});

describe('a run that began on another machine', () => {
  it('is running, is not started here, and is given up when a person asks', async () => {
    const fleet = await withLiveRun();
    const claim = bed.path('s', 'a', 'attempts', '1', 'pid');
    const { bootId, ...place } = hostIdentity();
    const there = placeWord({ ...place, host: 'node17', pidNamespace: 'pid:[1]' });
    const pid = run(fleet, 's/a').pid!;
    const next = await nextSupervisor(fleet, () => {
      const [stat] = readFileSync(claim, 'utf8').split(` ${bootId} `);
      writeFileSync(claim, `${stat} ${bootId} at ${there}\n`);
    });
    await waitFor('the warning', () => run(next, 's/a').warning);
    expect(run(next, 's/a')).toMatchObject({
      ...{ state: 'running', pid: null, warning: 'runs on node17, which cannot be reached from here' },
    });
    await next.act('kill', [id]);
    await untilState(next, 's/a', 'killed');
    await waitFor('the reason', () => run(next, 's/a').warning?.includes('could not be reached'));
    // Whoever has its pid here was left alone.
    expect(process.kill(pid, 0)).toBe(true);
    expect(starts()).toBe(1);
  });
});
