import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GpuIndex } from '../../src/base/ids.js';
import { type Gpu, type GpuView, nothingKnown } from '../../src/gpu/gpu.js';
import { chooseSlots, isSameChoice, refuseTooManyCores, type SlotChoice } from '../../src/launch/slot-choice.js';
import { Resources } from '../../src/spec/planned-run.js';
import { plan } from '../supervisor/testbed.js';
import { mostSharing } from '../../src/supervisor/requests/submission.js';

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
    expect(chooseSlots(wish, before, { cores: 8, view, visible: null }).gpus).toEqual(gpus);
  });

  it.each([
    { view: viewOf(), problem: 'There is no GPU 3 on this machine: nvidia-smi was not found.' },
    { view: viewOf(gpu(0), gpu(1000)), problem: 'There is no GPU 3 on this machine: nvidia-smi shows 0, 0:0.' },
  ])('cannot be GPUs that are not there: $problem', ({ view, problem }) => {
    expect(() => chooseSlots({ gpus: [3] }, null, { cores: 8, view, visible: null })).toThrow(problem);
  });

  const hiding = (...indexes: number[]) => ({ indexes, said: `CUDA_VISIBLE_DEVICES=${indexes.join()}` });
  const hidden = (indexes: number[]) => ({
    cores: 8,
    view: viewOf(gpu(0), gpu(1), gpu(2)),
    visible: hiding(...indexes),
  });

  it('are those that the shell of the launch shows, in its order', () => {
    expect(chooseSlots({}, null, hidden([2, 0])).gpus).toEqual([granted(2), granted(0)]);
    expect(chooseSlots({}, null, hidden([])).gpus).toEqual([]);
    expect(chooseSlots({ gpus: [0] }, null, hidden([2, 0])).gpus).toEqual([granted(0)]);
  });

  it.each([
    {
      indexes: [2, 0],
      fix: 'Choose among GPU 2, 0, or launch without the limit: `env -u CUDA_VISIBLE_DEVICES memrl-tui …`.',
    },
    { indexes: [], fix: 'Launch without the limit: `env -u CUDA_VISIBLE_DEVICES memrl-tui …`.' },
  ])('cannot be GPUs that the shell hides: $indexes', ({ indexes, fix }) => {
    const problem = `GPU 1 is hidden by the environment of this shell: CUDA_VISIBLE_DEVICES=${indexes.join()}.`;
    expect(() => chooseSlots({ gpus: [0, 1].slice(indexes.length === 0 ? 1 : 0) }, null, hidden(indexes))).toThrow(
      expect.objectContaining({ message: problem, fix }) as Error,
    );
  });

  it.each([
    { cpus: 9, gpus: 0, refused: true },
    { cpus: 8, gpus: 0, refused: false },
    { cpus: 9, gpus: 1, refused: true },
    { cpus: 9, gpus: 1, slots: 0, refused: false },
    { cpus: 2, gpus: 0, slots: 0, refused: true },
    { cpus: 1, gpus: 0, slots: 0, refused: false },
  ])(
    'refuse runs that reserve more cores than there are: $cpus, with $gpus GPUs',
    ({ cpus, gpus, slots = 8, refused }) => {
      const [run] = plan('/runs', 's', [{ resources: Resources.parse({ gpus, cpus }) }]).runs;
      const ask = () => refuseTooManyCores([run!], { cpus: slots, gpus: [granted(0)] });
      if (refused)
        expect(ask).toThrow(`Each run of group main reserves ${cpus} cores, and there are ${slots} CPU slots.`);
      else expect(ask).not.toThrow();
    },
  );

  it('are the same only in the same order', () => {
    const choice = (...gpus: SlotChoice['gpus']): SlotChoice => ({ cpus: 1, gpus });
    expect(isSameChoice(choice(granted(0), granted(1)), choice(granted(0), granted(1)))).toBe(true);
    expect(isSameChoice(choice(granted(0), granted(1)), choice(granted(1), granted(0)))).toBe(false);
  });
});

describe('how many runs may share a GPU', () => {
  const auto = { resources: { gpus: 1, per_gpu: 4, gpu_memory: null, mps: 'auto' as const } };
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
