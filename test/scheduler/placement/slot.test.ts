import { describe, expect, it } from 'vitest';
import { type Slot, slotName, slotNamed } from '../../../src/scheduler/placement/slot.js';
import { GpuIndex } from '../../../src/base/ids.js';

const gpu = (index: number) => GpuIndex.parse(index);

describe('the name of a slot', () => {
  it.each<{ name: string; slot: Slot }>([
    { name: 'cpu 0', slot: { kind: 'cpu', index: 0 } },
    { name: 'gpu 3', slot: { kind: 'gpu', gpus: [gpu(3)] } },
    { name: 'gpu 0,1', slot: { kind: 'gpu', gpus: [gpu(0), gpu(1)] } },
    { name: 'gpu 1:0', slot: { kind: 'gpu', gpus: [gpu(2000)] } },
  ])('$name is written and read', ({ name, slot }) => {
    expect(slotName(slot)).toBe(name);
    expect(slotNamed(name)).toEqual(slot);
  });

  it.each(['', 'cpu', 'cpu x', 'cpu -1', 'gpu', 'gpu ', 'gpu 1,', 'gpu a', 'tpu 0', 'cpu 0 '])('is not %j', (name) => {
    expect(slotNamed(name)).toBeNull();
  });
});
