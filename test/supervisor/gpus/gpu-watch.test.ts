import { expect, it } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import { type GpuView, nothingKnown } from '../../../src/gpu/gpu.js';
import { LeakedMemory } from '../../../src/supervisor/gpus/gpu-watch.js';

const a = RunId.parse('s/a');

function viewOf(...held: [gpu: number, pid: number, memory: number | null][]): GpuView {
  return { ...nothingKnown, processes: held.map(([gpu, pid, memory]) => ({ gpu, pid, memory, name: 'python' })) };
}

it('says what an ended run still holds after a moment, and once that it has let go', () => {
  const leftovers = new LeakedMemory();
  leftovers.ended(a, [4711, 4712], 0);
  expect(leftovers.seen(viewOf([0, 4711, 1024]), 1000)).toEqual(new Map());
  expect(leftovers.seen(viewOf([0, 4711, 1024], [1, 4712, null], [0, 1, 5]), 3000)).toEqual(
    new Map([[a, 'GPU 0: 1,024 MiB still held by pid 4711; GPU 1: memory still held by pid 4712']]),
  );
  expect(leftovers.seen({ ...viewOf(), problem: 'the driver is sick' }, 4000)).toEqual(new Map());
  expect(leftovers.seen(viewOf(), 5000)).toEqual(new Map([[a, null]]));
  expect(leftovers.isEmpty).toBe(true);
  expect(leftovers.seen(viewOf([0, 4711, 1]), 6000)).toEqual(new Map());
});

it('does not look after runs that were on no GPU, or have begun again', () => {
  const leftovers = new LeakedMemory();
  leftovers.ended(a, [], 0);
  expect(leftovers.isEmpty).toBe(true);
  leftovers.ended(a, [4711], 0);
  leftovers.forget(a);
  expect(leftovers.isEmpty).toBe(true);
});
