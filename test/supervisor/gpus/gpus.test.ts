import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import type { Fleet } from '../../../src/client/fleet.js';
import { Resources } from '../../../src/spec/planned-run.js';
import { FakeDriver, temporaryFolder } from '../../gpu/fake-gpus.js';
import { run, Testbed, untilState, waitFor } from '../testbed.js';

const forever = ['sleep', '600'];
const id = (name: string) => RunId.parse(`s/${name}`);
const often = { MEMRL_GPU_EVERY_MS: '100' };
/** A busy machine needs a second for a driver that is well; only one that hangs need be given up soon. */
const PATIENCE_S = 3;

const beds: Testbed[] = [];
const strangers: ChildProcess[] = [];
afterEach(async () => {
  for (const child of strangers.splice(0)) child.kill('SIGKILL');
  for (const bed of beds.splice(0)) await bed.close();
});

async function newBed(environment: Record<string, string> = {}): Promise<{ bed: Testbed; fleet: Fleet }> {
  const bed = new Testbed({ ...often, ...environment });
  beds.push(bed);
  return { bed, fleet: await bed.fleet() };
}

/** A process that is none of ours. */
function stranger(): ChildProcess {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  strangers.push(child);
  return child;
}

/** Names of the runs on each GPU, as the GPUs say it. */
function placement(fleet: Fleet): Record<number, string[]> {
  return Object.fromEntries(
    fleet.status.gpus.map(({ index, runs }) => [index, runs.map((each) => each.replace('s/', ''))]),
  );
}

/** The same, as the rows say it; they come a moment before. */
function placementByRows(fleet: Fleet): Record<number, string[]> {
  const byGpu: Record<number, string[]> = Object.fromEntries(fleet.status.gpus.map(({ index }) => [index, []]));
  for (const { name, gpus } of fleet.runs.values()) for (const gpu of gpus) byGpu[gpu]!.push(name);
  return byGpu;
}

const names = (...numbers: number[]) => numbers.map((number) => `run${number}`);
const sets = (byGpu: Record<number, string[]>) => Object.values(byGpu).map((all) => new Set(all));
const sizes = (fleet: Fleet) => Object.values(placement(fleet)).map((runs) => runs.length);

async function untilSizes(fleet: Fleet, wanted: number[]): Promise<void> {
  await waitFor(`runs on the GPUs: ${wanted.join(' ')}`, () => String(sizes(fleet)) === String(wanted));
  expect(sets(placementByRows(fleet))).toEqual(sets(placement(fleet)));
}

describe('a GPU on which runs fail while others last', () => {
  it('is held and named with what releases it, and the others go on', async () => {
    const { bed, fleet } = await newBed();
    const driver = new FakeDriver('nvidia');
    driver.set({ FAKE_GPUS: '3' });
    const go = bed.path('go');
    const script = `case $CUDA_VISIBLE_DEVICES in 1) sleep 0.2; exit 1;; esac; until test -e ${go}; do sleep 0.05; done`;
    const resources = Resources.parse({ gpus: 1 });
    const runs = Array.from({ length: 9 }, (_, at) => ({
      ...{ argv: ['sh', '-c', script], resources, parameters: { lr: at % 3, seed: at } },
    }));
    const plan = bed.plan('s', runs);
    const groups = plan.groups.map((group) => ({ ...group, breaker: { failures: 3, within: 10 } }));
    await fleet.submit({ ...plan, groups }, driver.environment, {});

    await waitFor('the GPU to be held', () => fleet.status.gpus[1]?.drained === true);
    const reason = '3 runs in a row failed within 10 s of starting on it, and others last elsewhere';
    expect(fleet.status.gpus[1]).toMatchObject({ drainReason: reason });
    await waitFor('the problem', () => fleet.status.problem !== null);
    expect(fleet.status.problem).toBe(
      `GPU 1 takes no new runs: ${reason}; \`memrl-tui drain 1 --undo\` lets it take runs again`,
    );
    writeFileSync(go, '');
    const states = () => [...fleet.runs.values()].map(({ state }) => state);
    await waitFor('the others to be done', () => states().filter((state) => state === 'done').length === 6);
    expect(states().filter((state) => state === 'failed')).toHaveLength(3);
    expect(await fleet.request({ verb: 'drain', gpus: [1], drained: false })).toMatchObject({ ok: true });
    await waitFor('no problem', () => fleet.status.problem === null);
    expect(fleet.status.gpus[1]).not.toHaveProperty('drainReason');
  });
});

describe('eight GPUs with three runs each, a stranger on one and one drained', () => {
  it(
    'are filled as expected at each moment, and a sick driver frees and double-books nothing',
    { tags: ['long'] },
    async () => {
      const { bed, fleet } = await newBed({ MEMRL_GPU_PATIENCE_MS: String(PATIENCE_S * 1000) });
      const driver = new FakeDriver('nvidia');
      const other = stranger();
      const machine = { FAKE_GPUS: '8', FAKE_GPU_APPS: `2:${other.pid}:5000:/usr/bin/sleep` };
      driver.set(machine);
      const resources = Resources.parse({ gpus: 1, per_gpu: 3 });
      const runs = Array.from({ length: 32 }, () => ({ argv: forever, resources, grace: 1 }));
      await fleet.submit(bed.plan('s', runs), driver.environment, {});

      // All are filled alike, around the stranger.
      await untilSizes(fleet, [3, 3, 0, 3, 3, 3, 3, 3]);
      expect(placement(fleet)[0]).toEqual(names(0, 7, 14));
      expect(placement(fleet)[3]).toEqual(names(2, 9, 16));
      const sleep = `sleep (pid ${other.pid})`;
      expect(run(fleet, 's/run21').reason).toBe(`waiting for a GPU (7 of 8 busy, 1 used by ${sleep})`);
      expect(fleet.status.gpus[2]).toMatchObject({
        ...{ index: 2, name: 'NVIDIA Fake 80GB', memoryTotal: 81559, memoryUsed: 5003, utilization: 90, power: 70.12 },
        ...{ foreign: [{ pid: other.pid, name: 'sleep', memory: 5000 }], leasedBy: null, drained: false },
      });

      // A drained one keeps its runs, and gets no others.
      expect(await fleet.request({ verb: 'drain', gpus: [5], drained: true })).toEqual({
        ok: true,
        message: 'GPU 5 drained; 3 runs still there',
      });
      expect(await fleet.request({ verb: 'drain', gpus: [5], drained: true })).toMatchObject({
        ok: false,
        message: 'drained already',
      });
      expect(await fleet.request({ verb: 'drain', gpus: [9], drained: true })).toMatchObject({
        ...{ ok: false, message: 'GPU 9 is not in use here; those in use: 0, 1, 2, 3, 4, 5, 6, 7.' },
      });
      await fleet.act('kill', [id('run4'), id('run11'), id('run0')]);
      await untilSizes(fleet, [3, 3, 0, 3, 3, 1, 3, 3]);
      expect(placement(fleet)[0]).toEqual(names(7, 14, 21));
      expect(run(fleet, 's/run22').reason).toBe(`waiting for a GPU (6 of 8 busy, 1 drained, 1 used by ${sleep})`);
      expect(fleet.status.gpus[5]).toMatchObject({ drained: true });

      // The stranger goes: its GPU is filled. Then the drained one is.
      driver.set({ FAKE_GPUS: '8' });
      await untilSizes(fleet, [3, 3, 3, 3, 3, 1, 3, 3]);
      expect(placement(fleet)[2]).toEqual(names(22, 23, 24));
      expect(await fleet.request({ verb: 'drain', gpus: [5], drained: false })).toEqual({
        ok: true,
        message: 'GPU 5 no longer drained',
      });
      await untilSizes(fleet, [3, 3, 3, 3, 3, 3, 3, 3]);
      expect(placement(fleet)[5]).toEqual(names(18, 25, 26));

      // Someone comes to a GPU that has our runs: they stay, and it is not filled up again.
      driver.set(machine);
      await waitFor('the stranger to be seen', () => fleet.status.gpus[2]!.foreign.length === 1);
      await fleet.act('kill', [id('run22')]);
      await untilSizes(fleet, [3, 3, 2, 3, 3, 3, 3, 3]);
      expect(run(fleet, 's/run27').reason).toBe(`waiting for a GPU (7 of 8 busy, 1 used by ${sleep})`);

      // The driver falls ill. What it said last counts; the slots of runs that end are given on, and no others.
      for (const [mode, diagnostic, killed] of [
        ['fail', 'NVIDIA-SMI has failed', 'run7'],
        ['hang', `did not answer within ${PATIENCE_S} s`, 'run14'],
        ['garbage', '', 'run21'],
      ] as const) {
        driver.set({ ...machine, FAKE_GPU_MODE: mode });
        await waitFor(`a problem about: ${mode}`, () => fleet.status.problem?.includes(diagnostic));
        expect(fleet.status.problem).toMatch(/the state of \d+ s ago is used/);
        const before = placement(fleet)[0]!;
        await fleet.act('kill', [id(killed)]);
        await waitFor('the slot to be given on', () => {
          const now = placement(fleet)[0]!;
          return now.length === 3 && String(now) !== String(before);
        });
        expect(sizes(fleet)).toEqual([3, 3, 2, 3, 3, 3, 3, 3]);
      }
      expect(placement(fleet)[0]).toEqual(names(27, 28, 29));
      driver.set({ FAKE_GPUS: '8' });
      await waitFor('the driver to be well', () => fleet.status.problem === null);
      await untilSizes(fleet, [3, 3, 3, 3, 3, 3, 3, 3]);
      expect(run(fleet, 's/run31').state).toBe('queued');
    },
  );
});

describe('GPUs', () => {
  it('are used in the order the person gave', async () => {
    const { bed, fleet } = await newBed();
    const driver = new FakeDriver('nvidia');
    driver.set({ FAKE_GPUS: '4' });
    const resources = Resources.parse({ gpus: 1 });
    const runs = Array.from({ length: 3 }, () => ({ argv: forever, resources }));
    await fleet.submit(bed.plan('s', runs), driver.environment, { gpus: [3, 1] });
    await untilSizes(fleet, [1, 1]);
    expect(fleet.status.gpus.map(({ index, uuid, runs: there }) => [index, uuid, there])).toEqual([
      [3, 'GPU-00000003-fake', ['s/run0']],
      [1, 'GPU-00000001-fake', ['s/run1']],
    ]);
  });

  it('are for the runs of a launch those that its shell shows, whatever others may use', async () => {
    const { bed, fleet } = await newBed();
    const driver = new FakeDriver('nvidia');
    driver.set({ FAKE_GPUS: '3' });
    const runs = Array.from({ length: 2 }, () => ({ argv: forever, resources: Resources.parse({}) }));
    const shell = { ...driver.environment, CUDA_VISIBLE_DEVICES: 'GPU-00000001' };
    expect(await fleet.submit(bed.plan('s', runs), shell, { gpus: [0] })).toMatchObject({
      ok: false,
      message: 'GPU 0 is hidden by the environment of this shell: CUDA_VISIBLE_DEVICES=GPU-00000001.',
    });
    await fleet.submit(bed.plan('s', runs), shell, {});
    expect(await untilState(fleet, 's/run0', 'running')).toMatchObject({ gpus: [1] });
    await fleet.submit(bed.plan('t', runs), driver.environment, {});
    await untilState(fleet, 't/run1', 'running');
    expect([run(fleet, 't/run0').gpus, run(fleet, 't/run1').gpus]).toEqual([[0], [2]]);
    expect(run(fleet, 's/run1')).toMatchObject({ state: 'queued', reason: 'waiting for a GPU (1 of 1 busy)' });
    // A shell that shows none: its runs go on CPU slots.
    await fleet.submit(bed.plan('u', runs.slice(0, 1)), { ...driver.environment, CUDA_VISIBLE_DEVICES: '' }, {});
    expect(await untilState(fleet, 'u/run0', 'running')).toMatchObject({ gpus: [], slot: 'cpu 0' });
  });

  it('take two runs of siblings whose memory is known from the first, and not the third', async () => {
    const { bed, fleet } = await newBed();
    const driver = new FakeDriver('nvidia');
    driver.set({ FAKE_GPUS: '1' });
    const resources = Resources.parse({ gpus: 1, per_gpu: 4 });
    const until = (file: string) => ['sh', '-c', `until test -e ${bed.path(file)}; do sleep 0.02; done`];
    const planned = Array.from({ length: 4 }, (_, n) => ({ argv: until(`end${n}`), resources }));
    await fleet.submit(bed.plan('s', planned.slice(0, 1)), driver.environment, {});
    // A row is `running` with its shim, a moment before the pid of its command is known.
    const pid = await waitFor('its process', () => run(fleet, 's/run0').pid);
    driver.set({ FAKE_GPUS: '1', FAKE_GPU_APPS: `0:${pid}:30000` });
    await waitFor('its memory', () => run(fleet, 's/run0').gpuMemory === 30_000);
    driver.set({ FAKE_GPUS: '1' });
    writeFileSync(bed.path('end0'), '');
    await untilState(fleet, 's/run0', 'done');
    await fleet.submit(bed.plan('s', planned), driver.environment, {});
    await untilSizes(fleet, [2]);
    expect(run(fleet, 's/run3')).toMatchObject({
      ...{ state: 'queued', reason: 'waiting for 33,000 MiB on a GPU (most free: 15,559)' },
    });
  });

  it('are shared through the MPS daemon where several runs are to share one', async () => {
    const { bed, fleet } = await newBed();
    const driver = new FakeDriver('nvidia', 'mps');
    driver.set({ FAKE_GPUS: '1' });
    const argv = ['sh', '-c', 'echo "$CUDA_MPS_PIPE_DIRECTORY|$CUDA_VISIBLE_DEVICES"; sleep 600'];
    const shared = { argv, resources: Resources.parse({ gpus: 1, per_gpu: 2 }) };
    const proud = { argv, resources: Resources.parse({ gpus: 1, per_gpu: 2, mps: 'off' }) };
    await fleet.submit(bed.plan('s', [shared, proud]), driver.environment, {});
    await waitFor('both to speak', () => bed.text('s/run0/output.log') !== '' && bed.text('s/run1/output.log') !== '');
    expect(bed.text('s/run0/output.log')).toMatch(/mps.*\/0\|GPU-00000000-fake\n$/);
    expect(bed.text('s/run1/output.log')).toBe('|0\n');
    await waitFor('the client to be told', () => fleet.status.gpus[0]!.mps);
  });
});

describe('two runs directories on one machine', () => {
  it(
    'see each other’s GPUs, also when the supervisor of the other is dead and its run is not',
    { tags: ['long'] },
    async () => {
      const driver = new FakeDriver('nvidia');
      driver.set({ FAKE_GPUS: '2' });
      const leases = { MEMRL_LEASES: temporaryFolder() };
      const [here, there] = [await newBed(leases), await newBed(leases)];
      const resources = Resources.parse({ gpus: 1 });
      const runs = Array.from({ length: 2 }, () => ({ argv: forever, resources, grace: 1 }));
      await here.fleet.submit(here.bed.plan('s', runs.slice(0, 1)), driver.environment, {});
      await untilState(here.fleet, 's/run0', 'running');

      await there.fleet.submit(there.bed.plan('s', runs), driver.environment, {});
      expect(await untilState(there.fleet, 's/run0', 'running')).toMatchObject({ gpus: [1] });
      const reason = `waiting for a GPU (1 of 2 busy, 1 taken by runs in ${here.bed.runs})`;
      await waitFor('the reason', () => run(there.fleet, 's/run1').reason === reason);
      expect(there.fleet.status.gpus.map(({ leasedBy }) => leasedBy)).toEqual([here.bed.runs, null]);

      here.fleet.close();
      await here.bed.killSupervisor();
      driver.set({ FAKE_GPUS: '2', FAKE_GPU_USED: '100 3' });
      await waitFor('a look', () => there.fleet.status.gpus[0]!.memoryUsed === 100);
      expect(run(there.fleet, 's/run1').state).toBe('queued');

      const again = await here.bed.fleet();
      await again.act('kill', [id('run0')]);
      await untilState(again, 's/run0', 'killed');
      expect(await untilState(there.fleet, 's/run1', 'running')).toMatchObject({ gpus: [0] });
    },
  );
});
