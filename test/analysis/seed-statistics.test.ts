import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  centreOf,
  notFiniteText,
  resultsOf,
  seedSummaries,
  type SeedSummary,
  student95,
} from '../../src/analysis/seed-statistics.js';
import { deviation, mean, quantile } from '../../src/analysis/statistics.js';

describe('what stands for some seeds', () => {
  it.each<{ spread: SeedSummary; values: number[]; middle: number; low: number; high: number }>([
    // s = 2; t(2) / √3 = 2.4841
    { spread: 'std', values: [4, 8, 6], middle: 6, low: 4, high: 8 },
    { spread: 'band', values: [4, 8, 6], middle: 6, low: 6 - 4.9683, high: 6 + 4.9683 },
    { spread: 'range', values: [4, 9, 5], middle: 6, low: 4, high: 9 },
    { spread: 'median', values: [0, 100, 2, 4], middle: 3, low: 1.5, high: 28 },
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

  it.each(seedSummaries)('%s of one value has no band', (spread) => {
    expect(centreOf([5], spread)).toEqual({ middle: 5, low: Number.NaN, high: Number.NaN });
  });

  it('does not depend on the order, and lies between the extremes', () => {
    const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(values, fc.constantFrom(...seedSummaries), (given, spread) => {
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

  it('is nothing of no values', () => {
    expect(centreOf([], 'std')).toEqual({ middle: Number.NaN, low: Number.NaN, high: Number.NaN });
  });
});

describe('values that are no numbers', () => {
  it('are counted and never averaged', () => {
    const results = resultsOf([1, Number.NaN, 3, Infinity, -Infinity, Number.NaN]);
    expect(results).toEqual({ finite: [1, 3], nan: 2, infinite: 2 });
    expect(notFiniteText(results)).toBe('2 NaN, 2 inf');
    expect(notFiniteText({ nan: 0, infinite: 1 })).toBe('1 inf');
    expect(notFiniteText({ nan: 0, infinite: 0 })).toBe('');
  });
});

describe('a deviation', () => {
  it('is 0 where only the arithmetic differs', () => {
    expect(deviation([0.1 + 0.2, 0.3, 0.3])).toBe(0);
    expect(centreOf([1, 1 + Number.EPSILON], 'std')).toMatchObject({ low: 1, high: 1 });
  });

  it('is what it is where values are small or differ in their last digits that count', () => {
    expect(deviation([1e-17, 3e-17])).toBeCloseTo(Math.SQRT2 * 1e-17, 25);
    expect(deviation([1, 1 + 1e-12])).toBeGreaterThan(0);
  });

  it('has a mean also where the sum of the values is too large', () => {
    expect(mean([1.5e308, 1.5e308])).toBe(1.5e308);
  });
});
