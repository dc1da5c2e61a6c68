import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Gpu, type GpuProcess, type GpuView, nothingKnown } from '../../src/gpu/gpu.js';
import { isNews, type SeenGpuFacts, toSeen } from '../../src/gpu/seen-gpu.js';

function gpu(index: number, memoryTotal: number | null = 80_000): Gpu {
  return {
    ...{ index, uuid: `GPU-${index}`, bus: null, name: 'H100', vendor: 'nvidia', instanceOf: null, computeMode: null },
    ...{ memoryTotal, memoryUsed: null, utilization: null, temperature: null, power: null },
  };
}

function view(own: Partial<GpuView>): GpuView {
  return { ...nothingKnown, at: 1, ...own };
}

const process = (index: number, pid: number, memory: number | null, name: string | null): GpuProcess => ({
  ...{ gpu: index, pid, memory, name },
});

const facts: SeenGpuFacts = { index: 0, memory: 80_000, foreignMemory: 1000, foreign: ['a (pid 1)'], leasedBy: null };

describe('what the scheduler is told of the GPUs', () => {
  it('names who is in the way, and how much they hold', () => {
    const foreign = new Map([[1, [process(1, 5, 900, 'blender'), process(1, 6, null, null)]]]);
    const seen = toSeen(view({ gpus: [gpu(0), gpu(1)], foreign }), new Map([['GPU-0', '/runs/other']]));
    expect(seen).toEqual([
      { index: 0, memory: 80_000, foreignMemory: 0, foreign: [], leasedBy: '/runs/other' },
      {
        index: 1,
        memory: 80_000,
        foreignMemory: 900,
        foreign: ['blender (pid 5)', 'a process (pid 6)'],
        leasedBy: null,
      },
    ]);
  });

  it('names the GPUs that the driver cannot reach, so that no run is put there', () => {
    const lost = { indexes: [1], words: 'GPU is lost' };
    const seen = toSeen(view({ gpus: [gpu(0)], lost }), new Map())!;
    expect(seen).toEqual([
      { index: 0, memory: 80_000, foreignMemory: 0, foreign: [], leasedBy: null },
      { index: 1, memory: null, foreignMemory: 0, foreign: [], leasedBy: null, present: false },
    ]);
    expect(isNews([seen[0]!, { ...seen[1]!, present: true }], seen)).toBe(true);
  });

  it('counts hidden memory, and takes much of it for somebody', () => {
    const hidden = new Map([
      [0, 1500],
      [1, 40_000],
      [2, 40_000],
    ]);
    expect(toSeen(view({ gpus: [gpu(0), gpu(1), gpu(2, null)], hidden }), new Map())).toMatchObject([
      { foreignMemory: 1500, foreign: [] },
      { foreignMemory: 40_000, foreign: ['a process not visible from here'] },
      { foreignMemory: 40_000, foreign: [] },
    ]);
  });

  it('is nothing as long as nothing is known, which is not the same as no GPUs', () => {
    expect(toSeen(nothingKnown, new Map())).toBeNull();
    expect(toSeen(view({}), new Map())).toEqual([]);
  });
});

describe('news for the scheduler', () => {
  it.each<{ what: string; now: SeenGpuFacts[]; news: boolean }>([
    { what: 'the same', now: [facts], news: false },
    { what: 'a few MiB more', now: [{ ...facts, foreignMemory: 1255 }], news: false },
    { what: 'much more', now: [{ ...facts, foreignMemory: 1256 }], news: true },
    { what: 'much less', now: [{ ...facts, foreignMemory: 744 }], news: true },
    { what: 'another process', now: [{ ...facts, foreign: ['a (pid 2)'] }], news: true },
    { what: 'a lease', now: [{ ...facts, leasedBy: '/runs/other' }], news: true },
    { what: 'another size', now: [{ ...facts, memory: null }], news: true },
    { what: 'another GPU', now: [{ ...facts, index: 1 }], news: true },
    { what: 'one more GPU', now: [facts, { ...facts, index: 1 }], news: true },
    { what: 'no GPU', now: [], news: true },
  ])('$what: $news', ({ now, news }) => {
    expect(isNews([facts], now)).toBe(news);
  });

  it('is rare while memory wavers: what is told never comes twice, however it moves within a step', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 80_000 }), fc.array(fc.integer({ min: -255, max: 255 })), (from, moves) => {
        const told = { ...facts, foreignMemory: from };
        expect(moves.some((by) => isNews([told], [{ ...told, foreignMemory: from + by }]))).toBe(false);
      }),
    );
  });
});
