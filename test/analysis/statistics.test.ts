import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deviation, withoutNoise } from '../../src/analysis/statistics.js';

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
