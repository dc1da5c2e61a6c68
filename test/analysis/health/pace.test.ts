import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PaceMarks, slownessOf } from '../../../src/analysis/health/pace.js';

type Leg = { rate: number; seconds: number };

/** Steps at these rates, one leg after the other, seen every 5 s. */
function moved(...legs: Leg[]): PaceMarks {
  const marks = new PaceMarks();
  let [at, step] = [0, 0];
  marks.note(at, step);
  for (const { rate, seconds } of legs) {
    for (let left = seconds; left > 0; left -= 5) {
      at += 5000;
      step += 5 * rate;
      marks.note(at, step);
    }
  }
  return marks;
}

const steady = (rate: number, seconds = 600) => moved({ rate, seconds });
const times = (count: number, make: () => PaceMarks) => Array.from({ length: count }, make);
const none: PaceMarks[] = [];

describe('a run', () => {
  it.each<{ that: string; own: PaceMarks; like?: PaceMarks[]; all?: PaceMarks[]; isSlow: boolean }>([
    { that: 'has no siblings', own: steady(1), isSlow: false },
    { that: 'is as fast as its seeds', own: steady(2), like: times(2, () => steady(2)), isSlow: false },
    { that: 'takes 1.9 times as long', own: steady(1), like: times(2, () => steady(1.9)), isSlow: false },
    { that: 'takes 2.5 times as long', own: steady(0.8), like: times(2, () => steady(2)), isSlow: true },
    { that: 'has one seed beside it that is faster', own: steady(0.8), like: [steady(2)], isSlow: false },
    {
      that: 'is slower than a single fast one of three',
      own: steady(1),
      like: [steady(1.1), steady(9), steady(1)],
      isSlow: false,
    },
    { that: 'has been seen for half a minute', own: steady(0.8, 30), like: times(3, () => steady(2)), isSlow: false },
    {
      that: 'is in a slow part that its seeds went through as slowly',
      own: moved({ rate: 10, seconds: 300 }, { rate: 1, seconds: 120 }),
      like: times(2, () => moved({ rate: 10, seconds: 300 }, { rate: 1, seconds: 300 }, { rate: 10, seconds: 600 })),
      isSlow: false,
    },
    {
      that: 'has become slow where its seeds did not',
      own: moved({ rate: 10, seconds: 300 }, { rate: 1, seconds: 120 }),
      like: times(2, () => steady(10)),
      isSlow: true,
    },
    {
      that: 'was slow and is not any more',
      own: moved({ rate: 1, seconds: 300 }, { rate: 10, seconds: 90 }),
      like: times(2, () => steady(10)),
      isSlow: false,
    },
    {
      that: 'is ahead of all others',
      own: steady(1, 600),
      like: times(3, () => steady(5, 60)),
      isSlow: false,
    },
    {
      that: 'is of another setting, and all others agree',
      own: steady(0.8),
      all: times(3, () => steady(2)),
      isSlow: true,
    },
    {
      that: 'is a large model among models of all sizes',
      own: steady(1),
      all: [steady(16), steady(8), steady(4), steady(2), steady(1)],
      isSlow: false,
    },
  ])('that $that is slow: $isSlow', ({ own, like = none, all = none, isSlow }) => {
    expect(slownessOf(own, { like, all: () => all }, false) !== null).toBe(isSlow);
  });

  it('tells its rate and that of the others, over the same steps', () => {
    expect(slownessOf(steady(0.8), { like: times(2, () => steady(2.1)), all: () => none }, false)).toBe(
      '0.80 steps/s, others 2.1',
    );
  });

  it('that was slow is so until it is clearly faster', () => {
    const like = times(2, () => steady(1.7));
    expect(slownessOf(steady(1), { like, all: () => none }, false)).toBeNull();
    expect(slownessOf(steady(1), { like, all: () => none }, true)).not.toBeNull();
    expect(slownessOf(steady(1.2), { like, all: () => none }, true)).toBeNull();
  });

  it('that takes up an earlier checkpoint begins anew', () => {
    const own = steady(1);
    own.note(700_000, 10);
    expect(own.stretch()).toBeNull();
    expect(own.msBetween(100, 200)).toBeNull();
  });
});

describe('the marks of a run', () => {
  it('tell how long any stretch took, however long the run is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 5000 }), fc.nat(1000), fc.nat(1000), (looks, one, other) => {
        const marks = moved({ rate: 2, seconds: 5 * looks });
        const steps = [one, other].map((share) => (share / 1000) * 10 * looks).sort((a, b) => a - b);
        expect(marks.msBetween(steps[0]!, steps[1]!)).toBeCloseTo(((steps[1]! - steps[0]!) / 2) * 1000, 3);
      }),
    );
  });
});
