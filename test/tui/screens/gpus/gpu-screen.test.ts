import { afterEach, describe, expect, it } from 'vitest';
import { GpuIndex } from '../../../../src/base/ids.js';
import { memoryReading } from '../../../../src/text/numbers.js';
import type { WindowStore } from '../../../../src/tui/app/window-store.js';
import type { GpuSummary } from '../../../../src/tui/state/port.js';
import { gpuMemory } from '../../../../src/tui/screens/gpus/gpu-memory.js';
import { gaugeSpark, memoryBar } from '../../../../src/tui/screens/gpus/gpu-screen.js';
import { aWindow, screenText } from '../../frames.js';
import { aRun, memorySweep, type SimulatedFleet } from '../../simulated-fleet.js';

const open: WindowStore[] = [];
afterEach(() => open.splice(0).forEach((store) => store.close()));

const gib = 1024;
function aGpu(index: number, over: Partial<GpuSummary> = {}): GpuSummary {
  return {
    ...{ index, name: 'NVIDIA H100 80GB HBM3', uuid: `GPU-0000000${index}-fake`, runs: [], drained: false },
    ...{ memoryTotal: 80 * gib, memoryUsed: 3, utilization: 0, temperature: 31, power: 68 },
    ...{ foreign: [], leasedBy: null, mps: false },
    ...over,
  };
}

/** Four GPUs: two runs and a stranger, drained, leased, silent; and an instance of a divided one. */
function machine(): { sweep: ReturnType<typeof memorySweep>; fleet: SimulatedFleet } {
  const sweep = memorySweep();
  const { fleet } = sweep;
  const here = [...fleet.runs.values()].filter(({ state }) => state === 'running' || state === 'stopping');
  here.forEach(({ id }, index) => fleet.change(id, { gpus: [0], slot: 'gpu 0', gpuMemory: (12 + index * 8) * gib }));
  const foreign = [{ pid: 4711, name: 'python serve.py', memory: 9 * gib }];
  const busy = { runs: here.map(({ id }) => id), memoryUsed: 44 * gib, utilization: 87, temperature: 86, power: 512 };
  fleet.status = {
    ...fleet.status,
    cpu: { slots: 0, busy: 0 },
    gpus: [
      aGpu(0, { ...busy, foreign, mps: true }),
      aGpu(1, { drained: true }),
      aGpu(2, { leasedBy: '/home/eve/runs' }),
      aGpu(3, { memoryUsed: null, utilization: null, temperature: null, power: null }),
      aGpu(4001, { name: 'NVIDIA H100 MIG 1g.10gb', memoryTotal: 10 * gib, utilization: null, power: null }),
    ],
  };
  return { sweep, fleet };
}

function shown(sweep: ReturnType<typeof memorySweep>, [width, height]: readonly [number, number]): WindowStore {
  const store = aWindow(sweep);
  open.push(store);
  store.resize(width, height);
  store.press('d');
  return store;
}

describe('the screen of GPUs', () => {
  it.each([
    [120, 40],
    [80, 24],
    [40, 10],
  ] as const)('shows what each does and for whom, at %i×%i', (...size) => {
    expect(screenText(shown(machine().sweep, size)).join('\n')).toMatchSnapshot();
  });

  it('is about the CPU where there are no GPUs, and says so', () => {
    const text = screenText(shown(memorySweep(), [100, 30])).join('\n');
    expect(text).toMatch(/CPU .*2 of 2 slots busy/);
    expect(text).toContain('No GPU is used here');
    expect(text).toMatch(/● C_dense_multi_N16_s2 .* cpu \d/);
  });

  it('lists the nodes of a cluster with their runs, where Slurm places them', () => {
    const sweep = memorySweep();
    const here = [...sweep.fleet.runs.values()].filter(({ state }) => state === 'running' || state === 'stopping');
    here.forEach(({ id }, index) => sweep.fleet.change(id, { slot: `n${index + 1}` }));
    const store = shown(sweep, [100, 30]);
    const text = screenText(store).join('\n');
    expect(text).toMatch(/── Node n1 .* 1 run/);
    expect(text).toMatch(/── Node n2 .* 1 run/);
    expect(text).toMatch(/n1 .* not told of yet/);
    expect(text).not.toContain('No GPU is used here');
    store.press('enter');
    expect(screenText(store).join('\n')).toMatch(/│ [●◑] C_dense_multi_N16_s[12]/);
  });

  it('shows the GPUs of the nodes, which runs have them, and which nodes take no runs', () => {
    const sweep = memorySweep();
    const [first] = [...sweep.fleet.runs.values()].filter(({ state }) => state === 'running');
    sweep.fleet.change(first!.id, { slot: 'n2', nodeGpus: [0, 2, 3] });
    const node = { state: 'partly in use', takesRuns: true, gpus: 4, gpusInUse: 3 };
    const down = { name: 'n3', state: 'down; it does not answer; Not responding', takesRuns: false };
    const nodes = [
      { ...node, name: 'n2' },
      { ...node, name: 'n1', gpusInUse: 0, state: 'free' },
      { ...node, ...down },
    ];
    sweep.fleet.status = { ...sweep.fleet.status, nodes };
    const store = shown(sweep, [100, 30]);
    const lines = screenText(store).join('\n');
    expect(lines).toMatch(/── Nodes .* 6 of 12 GPUs in use · 1 node without new runs/);
    expect(lines).toMatch(/ n2 .*━━━━━━━.* 3 of 4 .* 1 run · partly in use/);
    expect(lines).toMatch(/ n1 .* 0 of 4 .* free/);
    expect(lines).toMatch(/ n3 .* down; it does not answer; Not responding/);
    expect(lines).toMatch(/● C_dense_multi_N16_s2 .* n2 gpu 0,2,3/);
    ['down', 'down', 'down'].forEach((key) => store.press(key));
    expect(screenText(store).join('\n')).toMatch(/── Node n3[^]*No run of this supervisor is here/);
    store.press('D');
    expect(screenText(store).join('\n')).toContain('Slurm drains nodes');
    store.press('enter');
    expect(screenText(store).join('\n')).toContain('No run of this list is on n3.');
  });

  it('moves through the GPUs to the CPU, and no further', () => {
    const { sweep } = machine();
    const store = shown(sweep, [120, 40]);
    store.press('down');
    expect(screenText(store).join('\n')).toContain('── GPU 1 · NVIDIA');
    expect(screenText(store).join('\n')).toContain('Drained: no new runs start on it. D undrains it.');
    ['down', 'down', 'down'].forEach((key) => store.press(key));
    expect(screenText(store).join('\n')).toContain('── GPU 3:1 · NVIDIA H100 MIG');
    ['down', 'down', 'down'].forEach((key) => store.press(key));
    expect(screenText(store).join('\n')).toContain('── CPU ──');
  });

  it('goes to the first run on a GPU, or says that there is none', () => {
    const store = shown(machine().sweep, [120, 40]);
    store.press('enter');
    expect(screenText(store).join('\n')).toMatch(/│ [●◑] C_dense_multi_N16_s[12]/);
    store.press('d');
    store.press('k');
    expect(screenText(store).join('\n')).toContain('Go to a run first: Enter goes to the first one here.');
    store.press('down');
    store.press('enter');
    expect(screenText(store).join('\n')).toContain('No run of this list is on GPU 1.');
    store.press('escape');
    expect(screenText(store).join('\n')).not.toContain('── GPUs');
  });

  it('remembers how busy a GPU was', () => {
    const { sweep, fleet } = machine();
    let now = sweep.now;
    const store = aWindow({
      ...sweep,
      get now() {
        return now;
      },
    });
    open.push(store);
    store.resize(120, 40);
    store.press('d');
    for (const utilization of [0, 50, 100]) {
      now += 5000;
      fleet.status = { ...fleet.status, gpus: fleet.status.gpus.map((gpu) => ({ ...gpu, utilization })) };
      fleet.publish();
    }
    expect(screenText(store).join('\n')).toContain('▁');
  });
});

describe('the memory of a GPU', () => {
  it.each<[string, Partial<GpuSummary>, number[], object]>([
    ['nobody', { memoryUsed: 0 }, [], { runs: 0, foreign: 0, hidden: 0 }],
    [
      'runs, strangers and what cannot be seen',
      { memoryUsed: 100, foreign: [{ pid: 1, name: 'x', memory: 20 }] },
      [30, 40],
      { runs: 70, foreign: 20, hidden: 10 },
    ],
    [
      'more told than used',
      { memoryUsed: 50, foreign: [{ pid: 1, name: 'x', memory: 20 }] },
      [40],
      { runs: 40, foreign: 10, hidden: 0 },
    ],
    [
      'a driver that does not say',
      { memoryUsed: null, foreign: [{ pid: 1, name: 'x', memory: null }] },
      [40],
      { runs: 40, foreign: 0, hidden: 0 },
    ],
  ])('%s', (_, over, held, expected) => {
    const runs = held.map((gpuMemory, index) => aRun(`A_${index}`, { gpuMemory, gpus: [GpuIndex.parse(0)] }));
    expect(gpuMemory(aGpu(0, over), runs)).toEqual(expected);
  });

  it('of a run on two GPUs is half on each', () => {
    const run = aRun('A_1', { gpuMemory: 60, gpus: [0, 1].map((index) => GpuIndex.parse(index)) });
    expect(gpuMemory(aGpu(0, { memoryUsed: 100 }), [run])).toMatchObject({ runs: 30, hidden: 70 });
  });

  it('is drawn as long as its share, and never longer than the bar', () => {
    const bar = (runs: number, foreign: number, hidden: number): string =>
      memoryBar(aGpu(0, { memoryTotal: 100 }), { runs, foreign, hidden }, 10)
        .map(({ text }) => text)
        .join('');
    expect(bar(50, 20, 0)).toBe('━━━━━══───');
    expect(bar(1, 1, 0)).toBe('━═────────');
    expect(bar(90, 90, 90)).toBe('━━━━━━━━━═');
    expect(bar(0, 0, 0)).toBe('──────────');
  });

  it('is told in the larger unit that fits', () => {
    expect([512, 1024, 81_920].map(memoryReading)).toEqual(['512 MiB', '1.0 GiB', '80.0 GiB']);
  });
});

it('draws a gauge on its whole scale, newest at the right', () => {
  expect(gaugeSpark([0, 50, 100, null, 250], 6)).toBe(' ▁▄▇ ▇');
  expect(gaugeSpark([1, 2, 3], 2)).toBe('▁▁');
  expect(gaugeSpark([], 3)).toBe('   ');
});
