import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { centreOf, quantile, student95 } from '../../../../src/tui/widgets/chart/chart-statistics.js';

describe('what stands for some seeds', () => {
  it.each<{ spread: 'std' | 'band' | 'iqm'; values: number[]; middle: number; low: number; high: number }>([
    // s = 2; t(2) / √3 = 2.4841
    { spread: 'std', values: [4, 8, 6], middle: 6, low: 4, high: 8 },
    { spread: 'band', values: [4, 8, 6], middle: 6, low: 6 - 4.9683, high: 6 + 4.9683 },
    // 8 values: the two least and the two greatest are left out.
    { spread: 'iqm', values: [100, 1, 2, 3, 4, 5, 6, -100], middle: 3.5, low: 1.75, high: 5.25 },
    // 3 values: a quarter of them is none.
    { spread: 'iqm', values: [0, 3, 9], middle: 4, low: 1.5, high: 6 },
  ])('$spread of $values', ({ spread, values, middle, low, high }) => {
    const centre = centreOf(values, spread);
    expect(centre.middle).toBeCloseTo(middle, 9);
    expect(centre.low).toBeCloseTo(low, 3);
    expect(centre.high).toBeCloseTo(high, 3);
  });

  it.each(['std', 'band', 'iqm'] as const)('%s of one value has no band', (spread) => {
    expect(centreOf([5], spread)).toEqual({ middle: 5, low: Number.NaN, high: Number.NaN });
  });

  it('does not depend on the order, and lies between the extremes', () => {
    const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(values, fc.constantFrom('std', 'band', 'iqm'), (given, spread) => {
        const centre = centreOf(given, spread);
        expect(centreOf(given.toReversed(), spread)).toEqual(centre);
        const slack = 1e-6;
        expect(centre.middle).toBeGreaterThanOrEqual(Math.min(...given) - slack);
        expect(centre.middle).toBeLessThanOrEqual(Math.max(...given) + slack);
        expect(centre.low).toBeLessThanOrEqual(centre.high + slack);
      }),
    );
  });

  it.each([
    [1, 12.706],
    [2, 4.303],
    [9, 2.262],
    [15, 2.131],
    [16, 2.12],
    [30, 2.042],
    [120, 1.98],
  ])('takes the t of %i degrees of freedom from the tables: %d', (degrees, expected) => {
    expect(student95(degrees)).toBeCloseTo(expected, 3);
  });

  it('finds quantiles between the order statistics', () => {
    expect([0, 0.25, 0.5, 1].map((share) => quantile([0, 1, 2, 10], share))).toEqual([0, 0.75, 1.5, 10]);
  });
});
