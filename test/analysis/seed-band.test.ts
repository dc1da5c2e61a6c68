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
  it.each([
    { what: 'are those where they were written', xs: [[0, 1, 4], [1, 9], []], isLog: false, places: [0, 1, 4, 9] },
    { what: 'are positive on a logarithmic axis', xs: [[0, 1, 4]], isLog: true, places: [1, 4] },
    {
      what: 'are spread evenly where there are too many',
      xs: [[0, 1, 2, 3, 4, 8]],
      isLog: false,
      places: [0, 2, 4, 6, 8],
    },
    { what: 'are spread by their logarithms', xs: [[1, 2, 3, 4, 5, 16]], isLog: true, places: [1, 2, 4, 8, 16] },
    { what: 'are one where all were written there', xs: [[7], [7]], isLog: false, places: [7] },
    { what: 'are none where nothing was written', xs: [[]], isLog: false, places: [] },
  ])('$what', ({ xs, isLog, places }) => {
    const curves = xs.map((x) => ({ x }));
    expect(placesOf(curves, 5, isLog)).toEqual(places);
  });
});
