import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GpuIndex } from '../../../src/base/ids.js';
import { type Gpu, type GpuView, nothingKnown } from '../../../src/gpu/gpu.js';
import { chooseSlots, isSameChoice, type SlotChoice } from '../../../src/supervisor/requests/slot-choice.js';
import { mostSharing } from '../../../src/supervisor/requests/submission.js';

function gpu(index: number, over: Partial<Gpu> = {}): Gpu {
  return {
    ...{
      index,
      uuid: `GPU-${index}`,
      bus: null,
      name: 'A100',
      vendor: 'nvidia',
      instanceOf: null,
      memoryTotal: 40_000,
    },
    ...{ memoryUsed: 0, utilization: 0, temperature: 30, power: 50, computeMode: 'default' },
    ...over,
  };
}

const viewOf = (...gpus: Gpu[]): GpuView => ({ ...nothingKnown, gpus, at: 1 });
const granted = (index: number, known = true) => ({
  ...{ index: GpuIndex.parse(index), uuid: known ? `GPU-${index}` : null, memory: known ? 40_000 : null },
});

describe('the slots that are granted', () => {
  it.each<{
    when: string;
    wish: Parameters<typeof chooseSlots>[0];
    before: SlotChoice | null;
    view: GpuView;
    gpus: unknown;
  }>([
    {
      when: 'all there are, without a wish',
      wish: {},
      before: null,
      view: viewOf(gpu(0), gpu(1)),
      gpus: [granted(0), granted(1)],
    },
    {
      when: 'in the order of the wish, each once',
      wish: { gpus: [1, 0, 1] },
      before: null,
      view: viewOf(gpu(0), gpu(1)),
      gpus: [granted(1), granted(0)],
    },
    { when: 'none, if so wished', wish: { gpus: 'none' }, before: null, view: viewOf(gpu(0)), gpus: [] },
    {
      when: 'what is used already',
      wish: {},
      before: { cpus: 2, gpus: [granted(1)] },
      view: viewOf(gpu(0), gpu(1)),
      gpus: [granted(1)],
    },
    {
      when: 'what was known, while the driver is sick',
      wish: {},
      before: { cpus: 2, gpus: [granted(1)] },
      view: nothingKnown,
      gpus: [granted(1)],
    },
    {
      when: 'what the person says, while nothing is known',
      wish: { gpus: [5] },
      before: null,
      view: nothingKnown,
      gpus: [granted(5, false)],
    },
    {
      when: 'none that nobody may compute on',
      wish: {},
      before: null,
      view: viewOf(gpu(0, { computeMode: 'prohibited' })),
      gpus: [],
    },
  ])('are $when', ({ wish, before, view, gpus }) => {
    expect(chooseSlots(wish, before, 8, view).gpus).toEqual(gpus);
  });

  it.each([
    { view: viewOf(), problem: 'There is no GPU 3 on this machine: nvidia-smi was not found.' },
    { view: viewOf(gpu(0), gpu(1000)), problem: 'There is no GPU 3 on this machine: nvidia-smi shows 0, 0:0.' },
  ])('cannot be GPUs that are not there: $problem', ({ view, problem }) => {
    expect(() => chooseSlots({ gpus: [3] }, null, 8, view)).toThrow(problem);
  });

  it('are the same only in the same order', () => {
    const choice = (...gpus: SlotChoice['gpus']): SlotChoice => ({ cpus: 1, gpus });
    expect(isSameChoice(choice(granted(0), granted(1)), choice(granted(0), granted(1)))).toBe(true);
    expect(isSameChoice(choice(granted(0), granted(1)), choice(granted(1), granted(0)))).toBe(false);
  });
});

describe('how many runs may share a GPU', () => {
  const auto = { resources: { gpus: 1, per_gpu: 4, gpu_memory: null, mps: 'auto' as const, cpus: 1 } };
  const off = { resources: { ...auto.resources, mps: 'off' as const } };

  it('is one where the driver admits one process, unless they go through the MPS daemon', () => {
    const view = viewOf(gpu(0, { computeMode: 'exclusive' }), gpu(1));
    // A relative folder of a PATH means another one in each process, and is passed over.
    const withDaemon = { PATH: resolve('test/fixtures/mps') };
    expect(mostSharing([granted(0)], view, { PATH: '/nonexistent' })(auto)).toBe(1);
    expect(mostSharing([granted(0)], view, withDaemon)(auto)).toBe(Infinity);
    expect(mostSharing([granted(0)], view, withDaemon)(off)).toBe(1);
    expect(mostSharing([granted(1)], view, { PATH: '/nonexistent' })(off)).toBe(Infinity);
  });
});
