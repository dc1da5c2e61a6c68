import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { medianRanks, overSeeds } from '../../../src/lab/reference/over-seeds.js';

describe('the episodes of several seeds', () => {
  it('are summed up by their median, those that did not get there as infinite', () => {
    expect(overSeeds([8, null, 4])).toEqual({ seeds: 3, reached: 2, median: 8, interval: null, mean: 6 });
    expect(overSeeds([null, null, 4])).toMatchObject({ reached: 1, median: null, mean: 4 });
    expect(overSeeds([null])).toMatchObject({ reached: 0, median: null, mean: null });
  });

  it('have an interval between two of them, open upwards when too few got there', () => {
    // Binomial: P(at most 1 of 10) = 0.011, P(at most 2) = 0.055.
    expect(overSeeds([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).interval).toEqual([2, 9]);
    expect(overSeeds([1, 2, 3, 4, 5, 6, 7, null, null, null]).interval).toEqual([2, null]);
    expect(overSeeds([1, ...new Array<null>(9).fill(null)]).interval).toBeNull();
  });
});

describe('the places that hold a median between them', () => {
  it.each([
    [5, null],
    [6, [0, 5]],
    [9, [1, 7]],
    [30, [9, 20]],
    [100, [39, 60]],
  ])('of %i values are %j', (count, ranks) => expect(medianRanks(count)).toEqual(ranks));

  it('are as near to each other as 95 % allow', () => {
    fc.assert(
      fc.property(fc.integer({ min: 6, max: 200 }), (count) => {
        const [low] = medianRanks(count)!;
        const below = (most: number) => {
          let [chance, sum] = [2 ** -count, 0];
          for (let at = 0; at <= most; at++) {
            sum += chance;
            chance *= (count - at) / (at + 1);
          }
          return sum;
        };
        expect(below(low)).toBeLessThanOrEqual(0.025);
        expect(below(low + 1)).toBeGreaterThan(0.025);
      }),
    );
  });
});
