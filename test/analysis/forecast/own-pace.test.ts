import { describe, expect, it } from 'vitest';
import { OwnPace } from '../../../src/analysis/forecast/own-pace.js';

/** A run that came up at 0 and says how far it is at these moments, ms. */
function paceOf(...marks: readonly (readonly [at: number, progress: number])[]): OwnPace {
  const pace = new OwnPace(0);
  for (const [at, progress] of marks) pace.note(progress, 0, at);
  return pace;
}

describe('the pace of a run', () => {
  it('leaves its start-up out as soon as it moves', () => {
    expect(paceOf([30_000, 0.1]).toBudget(0.1)!.seconds).toBeCloseTo(270);
    expect(paceOf([30_000, 0.1], [31_000, 0.2]).toBudget(0.2)!.seconds).toBeCloseTo(8);
  });

  it('is that of the later half of its time', () => {
    const slow = paceOf([0, 0], [1000, 0.4], [2000, 0.5], [3000, 0.6]);
    expect(slow.toBudget(0.6)!.seconds).toBeCloseTo(4);
  });

  it('is known the better, the more readings there are', () => {
    const errors = [2, 10, 200].map((count) => {
      const marks = Array.from({ length: count }, (_, n) => [1000 * n, n / 1000] as const);
      return paceOf(...marks).toBudget((count - 1) / 1000)!.error;
    });
    expect(errors).toEqual(errors.toSorted((a, b) => b - a));
    expect(errors[2]).toBeLessThan(0.2);
    expect(paceOf([30_000, 0.1]).toBudget(0.1)!.error).toBeGreaterThan(0.9);
  });

  it('leaves out the time in which it stood still: it was paused, or the machine slept', () => {
    const before = Array.from({ length: 96 }, (_, n) => [1000 * n, n / 100] as const);
    const paused = 600_000;
    const after = [96, 97].map((n) => [1000 * n + paused, n / 100] as const);
    const pace = paceOf(...before, ...after);
    const { seconds, at } = pace.toBudget(0.97)!;
    expect([Math.round(seconds), at]).toEqual([3, 97_000 + paused]);
    expect(pace.movement).toEqual({ at: 97_000 + paused, every: 1000, longest: 1000 + paused });
  });

  it('counts what takes long again and again, such as an evaluation', () => {
    let at = 0;
    const marks = Array.from({ length: 500 }, (_, n) => [(at += n % 20 === 19 ? 15_000 : 1000), n / 1000] as const);
    // 19 s of steps and 15 s of evaluation for each 20 of the 500 that are left.
    expect(paceOf(...marks).toBudget(0.499)!.seconds).toBeGreaterThan(0.85 * (500 / 20) * 34);
    expect(paceOf(...marks).toBudget(0.499)!.seconds).toBeLessThan(1.15 * (500 / 20) * 34);
  });

  it('stays as it was when a thousand readings have come', () => {
    const marks = Array.from({ length: 1000 }, (_, n) => [1000 * n, n / 2000] as const);
    expect(paceOf(...marks).toBudget(999 / 2000)!.seconds).toBeCloseTo(1001, -1);
  });

  it('is not known of one that has not moved', () => {
    expect(paceOf().toBudget(null)).toBeNull();
    expect(paceOf([5000, 0]).toBudget(0)).toBeNull();
  });

  it.each<{ when: string; marks: (readonly [number, number])[]; used: number | null }>([
    { when: 'it goes on to the end', marks: [[1000, 0.25], [2000, 0.5], [3000, 0.75], [4000, 1]], used: 1 },
    { when: 'it ends early', marks: [[1000, 0.01], [2000, 0.02], [3000, 0.03]], used: 0.03 },
    { when: 'it ends early, and says that it is through', marks: [[1000, 0.01], [2000, 0.02], [2500, 1]], used: 0.02 },
    { when: 'it says so after one reading', marks: [[2000, 0.02], [2500, 1]], used: 0.02 },
    { when: 'it says nothing but that it is through', marks: [[2500, 1]], used: null },
  ])('knows how much of its budget it has used when $when', ({ marks, used }) => {
    expect(paceOf(...marks).used).toBe(used);
  }); // prettier-ignore
});
