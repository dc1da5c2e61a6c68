import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LaunchSpec, Start } from '../../../src/executors/executor.js';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { emptyState } from '../../../src/scheduler/state.js';
import { step } from '../../../src/scheduler/step.js';
import { type PlannedRun, Resources } from '../../../src/spec/planned-run.js';
import { Launcher } from '../../../src/supervisor/runs/launcher.js';
import { Shortage } from '../../../src/supervisor/runs/endings.js';
import { PlannedRuns, SubmissionStore } from '../../../src/supervisor/runs/submission-store.js';
import { id, slots, stopAsked, submitted } from '../../scheduler/play.js';
import { plan } from '../testbed.js';
import { removeFolder } from '../../remove-folder.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'launcher-'));
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  removeFolder(folder);
});

const started: Start = { kind: 'started', pid: 4711 };
const short: Start = { kind: 'refused', reason: 'the machine is out of processes', transient: true };

/** A promise to be kept by hand. */
function later<Value>() {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((keep) => (resolve = keep));
  return { promise, resolve };
}

/** A scheduler that acts on what the launcher tells it, at once. `starts`: what the system says, in turn. */
async function setUp(
  run: Partial<PlannedRun>,
  starts: Start[],
  gpus: { free?: boolean; sharing?: Promise<Record<string, string>> } = {},
  environment: Record<string, string> = { PATH: '/bin' },
) {
  const state = emptyState();
  const submissions = new SubmissionStore(folder);
  const key = await submissions.add(plan(folder, 's', [{ name: 'a', ...run }]), environment);
  const orders: LaunchSpec[] = [];
  const bornAt = Date.now();
  const told: SchedulerEvent[] = [];
  const take = (event: SchedulerEvent) => {
    for (const action of step(state, event).actions) if (action.type === 'launch') launcher.launch(action);
  };
  const now = () => 1 + Date.now() - bornAt;
  const shortage = new Shortage(now);
  const launcher: Launcher = new Launcher({
    // The supervisor takes an event when it is done with the one before.
    loop: {
      ...{ state, now, changed: () => undefined },
      ...{ tell: (event) => void told.push(event), mention: (event) => void told.push(event) },
    },
    ...{ plannedRuns: new PlannedRuns(state, submissions), bin: '/our/bin', records: { secure: () => undefined } },
    endings: { shortage, tookOver: () => undefined, ended: () => undefined },
    executor: {
      start: (_id, order) => {
        orders.push(order);
        return starts.shift()!;
      },
      takeOver: () => ({ kind: 'withdrawn', neverRan: false }),
      resources: () => ({ slots: 1, gpus: 'placed' }),
      ...{ terminate: () => undefined, kill: () => undefined, pause: () => undefined, continue: () => undefined },
      orphanedAttemptOf: () => null,
    },
    gpus: {
      claim: (wanted) => wanted.length === 0 || (gpus.free ?? true),
      shared: () => gpus.sharing ?? Promise.resolve({}),
      devices: (wanted) => ({ CUDA_VISIBLE_DEVICES: wanted.join(',') }),
    },
  });
  const { resources = Resources.parse({ gpus: 0 }) } = run;
  const need = { gpus: Number(resources.gpus), perGpu: resources.per_gpu, memory: null };
  take(slots(1, 1));
  const submit = submitted([{ name: 'a', need }]);
  if (submit.type === 'runs-submitted') take({ ...submit, plan: key });
  return { state, launcher, shortage, orders, told, take, phase: () => state.runs.get(id('a'))!.state.phase };
}

describe('launching', () => {
  it('starts a run where it was put, and says so', async () => {
    const { orders, told } = await setUp({ argv: ['train', '${attempt}'] }, [started]);
    expect(orders).toMatchObject([{ attempt: 1, argv: ['train', '1'], environment: { PATH: '/bin:/our/bin' } }]);
    expect(told).toEqual([
      { type: 'run-started', at: 1, id: id('a'), attempt: 1, pid: 4711, slot: { kind: 'cpu', index: 0 } },
    ]);
  });

  it('says where the run is, not where the person was, nor what that one did last', async () => {
    const { orders } = await setUp(
      { cwd: '/work' },
      [started],
      {},
      { PATH: '/bin', PWD: '/home', _: '/usr/bin/node', a: '1' },
    );
    expect(orders[0]?.environment).toMatchObject({ PWD: '/work', a: '1' });
    expect(orders[0]?.environment).not.toHaveProperty('_');
  });

  it('tries again every second while the system is short of something, and says what it waits for', async () => {
    const { launcher, orders, told } = await setUp({}, [short, short, started]);
    expect(launcher.delayOf(id('a'))).toBe(
      'cannot be started right now, will be retried: the machine is out of processes',
    );
    vi.advanceTimersByTime(1999);
    expect([orders.length, told.length]).toEqual([2, 0]);
    vi.advanceTimersByTime(1);
    expect(told).toMatchObject([{ type: 'run-started', attempt: 1 }]);
    expect(launcher.delayOf(id('a'))).toBeNull();
  });

  it('waits a second with the next start when the last came to nothing for want of something', async () => {
    const { launcher, shortage, orders, told, take } = await setUp({}, [started, started]);
    shortage.note('the machine is out of processes');
    take({ type: 'run-started', at: 1, id: id('a'), attempt: 1, pid: 4711 });
    take({ type: 'launch-withdrawn', at: 1, id: id('a'), attempt: 1 });
    expect([orders.length, launcher.shortage]).toEqual([1, 'the machine is out of processes']);
    told.length = 0;
    vi.advanceTimersByTime(1000);
    expect(orders).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
    expect(told).toMatchObject([{ type: 'run-started', attempt: 2 }]);
    expect(launcher.shortage).toBeNull();
  });

  it('does not start what was stopped meanwhile', async () => {
    const { launcher, orders, told, take, phase } = await setUp({}, [short]);
    take(stopAsked('a'));
    vi.advanceTimersByTime(1000);
    expect(told).toMatchObject([{ type: 'launch-withdrawn', id: id('a'), attempt: 1 }]);
    take(told[0]!);
    expect([phase(), orders.length, launcher.delayOf(id('a'))]).toEqual(['ended', 1, null]);
  });

  it('starts nothing any more once it is closed', async () => {
    const { launcher, orders } = await setUp({}, [short]);
    launcher.close();
    vi.advanceTimersByTime(5000);
    expect(orders.length).toBe(1);
  });

  it('says that a run can never start as the reason of its end', async () => {
    const { told } = await setUp({}, [{ kind: 'refused', reason: 'command not found: train', transient: false }]);
    expect(told).toMatchObject([{ type: 'launch-failed', reason: 'command not found: train' }]);
  });
});

describe('launching on a GPU', () => {
  const resources = Resources.parse({ gpus: 1, per_gpu: 2 });

  it('takes the launch back when another supervisor has taken the GPU', async () => {
    const { orders, told } = await setUp({ resources }, [], { free: false });
    expect(orders).toEqual([]);
    expect(told).toMatchObject([{ type: 'launch-withdrawn', attempt: 1 }]);
  });

  it('waits for the daemon through which runs share it', async () => {
    const ready = later<Record<string, string>>();
    const { launcher, orders } = await setUp({ resources }, [started], { sharing: ready.promise });
    expect(launcher.delayOf(id('a'))).toBe('waiting for the MPS daemon of its GPU');
    ready.resolve({ CUDA_MPS_PIPE_DIRECTORY: '/mps/0', CUDA_VISIBLE_DEVICES: 'GPU-0' });
    await ready.promise;
    await Promise.resolve();
    expect(orders).toMatchObject([
      { environment: { CUDA_MPS_PIPE_DIRECTORY: '/mps/0', CUDA_VISIBLE_DEVICES: 'GPU-0' } },
    ]);
  });

  it('does not start a run that was stopped while the daemon came up', async () => {
    const ready = later<Record<string, string>>();
    const { orders, told, take, phase } = await setUp({ resources }, [], { sharing: ready.promise });
    take(stopAsked('a'));
    ready.resolve({});
    await ready.promise;
    await Promise.resolve();
    expect([orders.length, told.map(({ type }) => type)]).toEqual([0, ['launch-withdrawn']]);
    take(told[0]!);
    expect(phase()).toBe('ended');
  });

  it('needs no daemon where the sweep file wants none', async () => {
    const alone = Resources.parse({ gpus: 1, per_gpu: 2, mps: 'off' });
    const { orders } = await setUp({ resources: alone }, [started]);
    expect(orders).toMatchObject([{ environment: { CUDA_VISIBLE_DEVICES: '0' } }]);
  });
});
