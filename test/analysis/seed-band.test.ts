import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placesOf, seedBand } from '../../src/analysis/seed-band.js';

const curve = (x: number[], y: number[], isOver = true) => ({ x, y, isOver });

describe('the band of several seeds', () => {
  it('is the mean of what each had at a place, or had last before it', () => {
    const curves = [curve([0, 10, 20], [0, 1, 2]), curve([0, 20], [4, 8])];
    expect(seedBand(curves, [0, 10, 15, 20], 'range')).toEqual([
      { x: 0, middle: 2, low: 0, high: 4, count: 2 },
      { x: 10, middle: 2.5, low: 1, high: 4, count: 2 },
      { x: 15, middle: 2.5, low: 1, high: 4, count: 2 },
      { x: 20, middle: 5, low: 2, high: 8, count: 2 },
    ]);
  });

  it('carries a seed on that has ended, and not one that still runs', () => {
    const long = curve([0, 100], [0, 10]);
    const at100 = (isOver: boolean) => seedBand([long, curve([0, 50], [4, 4], isOver)], [100], 'range')[0];
    expect(at100(true)).toMatchObject({ middle: 7, count: 2 });
    expect(at100(false)).toMatchObject({ middle: 10, count: 1 });
  });

  it('begins where the first seed does, and counts no value that is none', () => {
    const points = seedBand([curve([10, 20], [1, NaN]), curve([20], [3])], [0, 10, 20], 'range');
    expect(points.map(({ x, middle, count }) => [x, middle, count])).toEqual([
      [10, 1, 1],
      [20, 3, 1],
    ]);
  });

  it('lies between the lowest and the highest seed, and has an interval as soon as there are two', () => {
    const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(values, { minLength: 1, maxLength: 6 }), (seeds) => {
        const curves = seeds.map((y) => curve([...y.keys()], y));
        for (const { middle, low, high, count } of seedBand(curves, placesOf(curves, 7, false), 'range')) {
          expect(count).toBe(seeds.length);
          expect(Number.isNaN(low)).toBe(count < 2);
          if (count > 1) expect(low <= middle + 1e-9 && middle <= high + 1e-9).toBe(true);
        }
      }),
    );
  });
});

describe('the places of a band', () => {
  it('go from the first to the last, evenly', () => {
    expect(placesOf([curve([0, 5], []), curve([3, 10], [])], 5, false)).toEqual([0, 2.5, 5, 7.5, 10]);
  });

  it('are even in log x, from the first that is above zero', () => {
    expect(placesOf([curve([0, 1, 5], []), curve([0, 10, 1000], [])], 4, true).map(Math.round)).toEqual([
      1, 10, 100, 1000,
    ]);
  });

  it('are one where all is at one place, and none where there is nothing', () => {
    expect(placesOf([curve([7], [])], 9, false)).toEqual([7]);
    expect(placesOf([curve([], [])], 9, true)).toEqual([]);
  });
});
