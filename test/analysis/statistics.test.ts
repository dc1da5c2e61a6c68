import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deviation, rankCorrelation, ranksOf, withoutNoise } from '../../src/analysis/statistics.js';

describe('the deviation of a sample', () => {
  it.each([
    { values: [], is: null },
    { values: [1], is: null },
    { values: [1, 3], is: Math.SQRT2 },
    { values: [0.1, 0.1, 0.1], is: 0 },
    { values: [2.302585092994046, 2.3025850929940455, 2.302585092994046], is: 0 },
    { values: [0, 0, 0], is: 0 },
    { values: [1e-20, 3e-20], is: Math.SQRT2 * 1e-20 },
  ])('of $values is $is', ({ values, is }) => {
    if (is === null) expect(deviation(values)).toBeNull();
    else expect(deviation(values)).toBeCloseTo(is, 25);
  });

  it('is nothing where all values are the same', () => {
    const value = fc.double({ noNaN: true, min: -1e100, max: 1e100 });
    fc.assert(
      fc.property(value, fc.integer({ min: 2, max: 40 }), (each, count) => {
        expect(deviation(Array<number>(count).fill(each))).toBe(0);
      }),
    );
  });

  it('keeps what is more than noise', () => {
    expect(withoutNoise(1.4e-16, 1)).toBe(0);
    expect(withoutNoise(1.4e-16, 1e-3)).toBe(1.4e-16);
    expect(withoutNoise(1e-12, 1)).toBe(1e-12);
  });
});

it('gives equal values the mean of their ranks', () => {
  expect(ranksOf([30, 10, 20, 10])).toEqual([3, 0.5, 2, 0.5]);
});

describe('the rank correlation', () => {
  it.each([
    { x: [1, 2, 3, 4], y: [1, 10, 100, 1e9], r: 1 },
    { x: [1, 2, 3, 4], y: [8, 6, 4, 2], r: -1 },
    // 1 − 6 Σd² / n(n² − 1) with Σd² = 2 + 2 + 2.
    { x: [1, 2, 3, 4, 5], y: [2, 1, 4, 3, 5], r: 1 - (6 * 4) / 120 },
    { x: [1, 1, 2, 2], y: [1, 2, 1, 2], r: 0 },
  ])('of $x and $y is $r', ({ x, y, r }) => {
    expect(rankCorrelation(x, y)).toBeCloseTo(r, 12);
  });

  it.each([
    { what: 'two pairs', x: [1, 2], y: [1, 2] },
    { what: 'one value', x: [1, 1, 1], y: [1, 2, 3] },
  ])('is unknown of $what', ({ x, y }) => {
    expect(rankCorrelation(x, y)).toBeNull();
  });

  it('is within −1 and 1, and does not depend on which comes first', () => {
    const numbers = fc.array(fc.tuple(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 })));
    fc.assert(
      fc.property(numbers, (pairs) => {
        const [x, y] = [pairs.map(([a]) => a), pairs.map(([, b]) => b)];
        const r = rankCorrelation(x, y);
        if (r === null) return;
        expect(Math.abs(r)).toBeLessThanOrEqual(1);
        expect(rankCorrelation(y, x)).toBeCloseTo(r, 12);
      }),
    );
  });
});
