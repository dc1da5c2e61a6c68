import { describe, expect, it } from 'vitest';
import { type DiskRoom, GpuIdleness, scarcityOf, gpuHours } from '../../../src/analysis/health/resources.js';

const MINUTE = 60_000;

/** One GPU by its utilization, seen every minute. */
function seen(...utilizations: (number | null)[]): { idleness: GpuIdleness; now: number } {
  const idleness = new GpuIdleness();
  utilizations.forEach((utilization, minute) => idleness.note(minute * MINUTE, [{ index: 0, utilization }]));
  return { idleness, now: (utilizations.length - 1) * MINUTE };
}

describe('a GPU', () => {
  it.each<{ that: string; utilizations: (number | null)[]; from?: number; words: string | null }>([
    { that: 'computes', utilizations: [90, 95, 90, 100, 90, 95, 97], words: null },
    { that: 'has been idle for five minutes', utilizations: [90, 0, 0, 0, 0, 0, 0], words: 'GPU 0 at 0 % for 5 min' },
    { that: 'has been idle for four', utilizations: [90, 90, 0, 0, 0, 0, 0], words: null },
    { that: 'shows what a desktop takes', utilizations: [1, 2, 0, 1, 2, 1], words: 'GPU 0 at 0 % for 5 min' },
    { that: 'computed a moment ago', utilizations: [0, 0, 0, 0, 0, 0, 40], words: null },
    { that: 'says nothing', utilizations: [null, null, null, null, null, null, null], words: null },
    { that: 'said nothing meanwhile', utilizations: [0, 0, null, 0, 0, 0, 0], words: null },
    { that: 'was idle before the run was up', utilizations: [0, 0, 0, 0, 0, 0, 0, 0], from: 4 * MINUTE, words: null },
  ])('that $that: $words', ({ utilizations, from = 0, words }) => {
    const { idleness, now } = seen(...utilizations);
    expect(idleness.of([0], from, now)).toBe(words);
  });

  it('that is idle among several of a run is named, an instance by its place', () => {
    const idleness = new GpuIdleness();
    for (const minute of [0, 6, 7]) {
      const gpus = [0, 1, 3, 1001].map((index) => ({ index, utilization: index === 0 ? 99 : 0 }));
      idleness.note(minute * MINUTE, gpus);
    }
    expect(idleness.of([0, 1, 3, 1001], 0, 7 * MINUTE)).toBe('GPUs 1, 3, 0:1 at 0 % for 7 min');
    expect(idleness.of([], 0, 7 * MINUTE)).toBeNull();
    expect(idleness.of([7], 0, 7 * MINUTE)).toBeNull();
  });
});

const GIB = 2 ** 30;

describe('a disk', () => {
  it.each<{ room: DiskRoom; was?: boolean; words: string | null }>([
    { room: { free: 500 * GIB, total: 1000 * GIB }, words: null },
    { room: { free: 11 * GIB, total: 1000 * GIB }, words: null },
    { room: { free: 9 * GIB, total: 1000 * GIB }, words: '9.0 GiB of 1000 GiB left on its disk' },
    { room: { free: 9 * GIB, total: 100 * GIB }, words: null },
    { room: { free: 4 * GIB, total: 100 * GIB }, words: '4.0 GiB of 100 GiB left on its disk' },
    { room: { free: 5.5 * GIB, total: 100 * GIB }, words: null },
    { room: { free: 5.5 * GIB, total: 100 * GIB }, was: true, words: '5.5 GiB of 100 GiB left on its disk' },
    { room: { free: 6.5 * GIB, total: 100 * GIB }, was: true, words: null },
    { room: { free: 0, total: GIB }, words: '0 bytes of 1.0 GiB left on its disk' },
  ])('with $room.free bytes of $room.total is almost full: $words', ({ room, was = false, words }) => {
    expect(scarcityOf(room, was)).toBe(words);
  });
});

describe('the hours of GPUs', () => {
  const hours = (y: number[], x = y.map((_, index) => 3600 * index)) => ({
    x: Float64Array.from(x),
    y: Float64Array.from(y),
  });

  it('count those in which a GPU computed nothing', () => {
    expect(gpuHours([hours([80, 90, 0, 2, 95])])).toEqual({ seen: 4, idle: 2 });
  });

  it('count each GPU by itself, and none without samples', () => {
    expect(gpuHours([hours([80, 90]), hours([0, 0])])).toEqual({ seen: 2, idle: 1 });
    expect(gpuHours([hours([]), hours([5])])).toEqual({ seen: 0, idle: 0 });
  });

  it('leave out the pause between two attempts', () => {
    expect(gpuHours([hours([80, 80, 80, 0, 0], [0, 3600, 7200, 720_000, 723_600])])).toEqual({ seen: 3, idle: 1 });
  });
});
