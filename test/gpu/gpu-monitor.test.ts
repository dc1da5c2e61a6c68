import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import { GpuMonitor, type GpuMonitorOptions } from '../../src/gpu/gpu-monitor.js';
import { gpuMemoryHeld, type GpuView } from '../../src/gpu/gpu.js';
import { identityOf } from '../../src/processes/process-identity.js';
import type { Tree } from '../../src/processes/process-tree.js';
import { waitFor } from '../supervisor/testbed.js';
import { FakeDriver } from './fake-gpus.js';

const a = RunId.parse('s/a');
const b = RunId.parse('s/b');

const children: ChildProcess[] = [];
const monitors: GpuMonitor[] = [];
afterEach(() => {
  for (const monitor of monitors.splice(0)) monitor.close();
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function processOf(directory: string): Tree {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  children.push(child);
  return { ...identityOf(child.pid!)!, directory };
}

/** A machine with GPUs, runs, and a clock that stands still. */
function setUp(options: Partial<GpuMonitorOptions> = {}) {
  const driver = new FakeDriver('nvidia');
  const trees = new Map<RunId, Tree>();
  const views: GpuView[] = [];
  const clock = { now: 1_000_000 };
  const all = { environment: driver.environment, trees: () => trees, seen: (view: GpuView) => void views.push(view) };
  const monitor = new GpuMonitor({ ...all, now: () => clock.now, ...options });
  monitors.push(monitor);
  return { driver, trees, views, clock, monitor };
}

describe('the GPU monitor', () => {
  it('tells the runs’ processes from all others', async () => {
    const { driver, trees, monitor } = setUp();
    const [one, two, stranger] = [processOf('/r/a'), processOf('/r/b'), processOf('/r/other')];
    trees.set(a, one).set(b, two);
    const apps = [
      `0:${one.pid}:500`,
      `1:${one.pid}:100`,
      `1:${two.pid}:N/A`,
      `1:${stranger.pid}:2048:/usr/bin/blender`,
    ];
    driver.set({
      FAKE_GPUS: '2',
      FAKE_GPU_APPS: `${apps.join(' ')} 0:999999999:40:mystery 0:1:77:nvidia-cuda-mps-server`,
    });
    const view = await monitor.look();
    expect(view.byRun).toEqual(
      new Map([
        [a, { memory: 600, pids: [one.pid] }],
        [b, { memory: null, pids: [two.pid] }],
      ]),
    );
    expect(view.foreign).toEqual(
      new Map([
        [1, [{ gpu: 1, pid: stranger.pid, memory: 2048, name: 'blender' }]],
        [0, [{ gpu: 0, pid: 999999999, memory: 40, name: 'mystery' }]],
      ]),
    );
    expect(view).toMatchObject({ at: 1_000_000, problem: null, gpus: [{ index: 0 }, { index: 1 }] });
  });

  it('keeps the most that a run held on one GPU until it is asked', async () => {
    const { driver, trees, monitor } = setUp();
    const { pid } = processOf('/r/a');
    trees.set(a, { pid, startTime: identityOf(pid)!.startTime, directory: '/r/a' });
    expect(monitor.peakOf(a)).toBeNull();
    for (const apps of [`0:${pid}:500`, `0:${pid}:900 1:${pid}:400`, `0:${pid}:100`, '']) {
      driver.set({ FAKE_GPUS: '2', FAKE_GPU_APPS: apps });
      await monitor.look();
    }
    expect(monitor.peakOf(a)).toBe(900);
    expect(monitor.peakOf(a)).toBeNull();
  });

  it('knows a killed run’s process that the driver still lists, as the run’s and then as what it left', async () => {
    const { driver, trees, monitor } = setUp();
    const tree = processOf('/r/a');
    trees.set(a, tree);
    driver.set({ FAKE_GPUS: '1', FAKE_GPU_APPS: `0:${tree.pid}:1024` });
    await monitor.look();
    process.kill(tree.pid, 'SIGKILL');
    await waitFor('its death', () => identityOf(tree.pid) === null);
    const held = await monitor.look();
    expect(held.byRun.get(a)).toEqual({ memory: 1024, pids: [tree.pid] });
    expect(gpuMemoryHeld(held, [tree.pid, 1])).toEqual([{ gpu: 0, pid: tree.pid, memory: 1024, name: 'python' }]);
    trees.clear();
    // It may have ended while the driver was asked.
    expect((await monitor.look()).foreign.size).toBe(0);
    const left = await monitor.look();
    expect(left.byRun.size).toBe(0);
    trees.set(a, processOf('/r/a'));
    expect((await monitor.look()).byRun.size).toBe(0);
    expect(left.foreign.get(0)).toEqual([{ gpu: 0, pid: tree.pid, memory: 1024, name: 'python of s/a' }]);
    driver.set({ FAKE_GPUS: '1' });
    expect(gpuMemoryHeld(await monitor.look(), [tree.pid])).toEqual([]);
  });

  it.each([
    {
      mode: 'fail',
      problem: "nvidia-smi failed: NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
    },
    { mode: 'hang', problem: 'nvidia-smi did not answer within 1.5 s' },
    { mode: 'short', problem: 'nvidia-smi failed: exit code 255' },
    { mode: 'garbage', problem: 'nvidia-smi answered only in part: Segmentation fault in /usr/lib/libnvidia-ml.so' },
    { mode: 'lost', problem: 'the driver no longer reports NVIDIA Fake 80GB GPU-00000001-fake' },
  ])('keeps what was known while the driver is sick ($mode), and says so', async ({ mode, problem }) => {
    const { driver, trees, monitor, clock, views } = setUp({ patienceMs: 1500 });
    const tree = processOf('/r/a');
    trees.set(a, tree);
    const state = { FAKE_GPUS: '2', FAKE_GPU_APPS: `1:${tree.pid}:512` };
    driver.set(state);
    const good = await monitor.look();
    driver.set({ ...state, FAKE_GPU_MODE: mode });
    clock.now += 40_000;
    const sick = await monitor.look();
    expect(sick).toEqual({ ...good, problem: `${problem}; the state of 40 s ago is used` });
    driver.set(state);
    expect(await monitor.look()).toEqual({ ...good, at: clock.now });
    expect(views).toHaveLength(3);
  });

  it('says that nothing is known when the first look fails, and does not call that "no GPUs"', async () => {
    const { driver, monitor } = setUp();
    driver.set({ FAKE_GPU_MODE: 'fail' });
    const view = await monitor.look();
    expect(view).toMatchObject({ gpus: [], at: null });
    expect(view.problem).toContain('; the state of the GPUs is unknown');
  });

  it('believes that a GPU is gone when it is gone twice', async () => {
    const { driver, monitor } = setUp();
    driver.set({ FAKE_GPUS: '2' });
    await monitor.look();
    driver.set({ FAKE_GPUS: '1' });
    expect((await monitor.look()).gpus).toHaveLength(2);
    expect(await monitor.look()).toMatchObject({ gpus: [{ index: 0 }], problem: null });
  });

  it('does not take GPUs that Slurm keeps to itself for missing', async () => {
    const { driver, monitor } = setUp();
    driver.set({ FAKE_GPUS: '3' });
    await monitor.look();
    Object.assign(driver.environment, { SLURM_JOB_ID: '7', CUDA_VISIBLE_DEVICES: '1' });
    expect(await monitor.look()).toMatchObject({ gpus: [{ index: 1 }], problem: null });
  });

  it('does not take a driver whose tools are being exchanged for a machine without GPUs', async () => {
    const { driver, monitor } = setUp();
    driver.set({ FAKE_GPUS: '2' });
    await monitor.look();
    driver.environment['PATH'] = '/nonexistent';
    for (let look = 0; look < 2; look++) {
      expect(await monitor.look()).toMatchObject({
        gpus: [{}, {}],
        problem: expect.stringContaining('tools are gone') as string,
      });
    }
  });

  it('finds no GPUs where there is no driver, and that is no problem', async () => {
    const { monitor } = setUp({ environment: { PATH: '/nonexistent' } });
    expect(await monitor.look()).toMatchObject({ gpus: [], at: 1_000_000, problem: null });
  });

  it('counts memory that nobody shows as hidden, once it has been there twice', async () => {
    const { driver, monitor } = setUp();
    driver.set({ FAKE_GPUS: '3', FAKE_GPU_USED: '500 20000 3' });
    expect((await monitor.look()).hidden).toEqual(new Map([[1, 20_000]]));
    driver.set({ FAKE_GPUS: '3', FAKE_GPU_USED: '500 20000 9000' });
    expect((await monitor.look()).hidden).toEqual(new Map([[1, 20_000]]));
    expect((await monitor.look()).hidden).toEqual(
      new Map([
        [1, 20_000],
        [2, 9000],
      ]),
    );
  });

  it('never looks twice at a time, however often it is asked', async () => {
    const { driver, monitor, views } = setUp({ everyMs: 1 });
    monitor.wake();
    monitor.wake();
    const looks = [monitor.look(), monitor.look(), monitor.look()];
    expect(new Set(await Promise.all(looks)).size).toBe(1);
    await waitFor('some looks', () => views.length >= 5);
    monitor.close();
    await monitor.look();
    const calls = driver.calls();
    expect(calls.filter((call, place) => call !== (place % 2 === 0 ? 'begin' : 'end'))).toEqual([]);
  });

  it('looks by itself only while it is awake, and tells nothing once it is closed', async () => {
    const { driver, monitor, views } = setUp({ everyMs: 1 });
    monitor.wake();
    await waitFor('some looks', () => views.length >= 2);
    monitor.rest();
    await monitor.look();
    const resting = driver.calls().length;
    await monitor.look();
    expect(driver.calls()).toHaveLength(resting + 4);
    monitor.close();
    const told = views.length;
    monitor.wake();
    await monitor.look();
    expect(views).toHaveLength(told);
    expect(driver.calls()).toHaveLength(resting + 8);
  });
});
