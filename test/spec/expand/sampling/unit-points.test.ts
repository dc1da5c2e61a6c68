import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  mostSobolDimensions,
  type SamplingKind,
  sobolCoordinate,
  sobolDirections,
  unitHash,
  unitPoints,
} from '../../../../src/spec/expand/sampling/unit-points.js';

describe('points in a cube', () => {
  it('lie inside it, whatever the seed', () => {
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom<SamplingKind>('random', 'lhs', 'sobol'), (seed, kind) => {
        const at = unitPoints(kind, seed, { dimensions: ['a', 'b', 'c'], count: 16 });
        const all = Array.from({ length: 48 }, (_, index) => at(index >> 2, index % 3));
        expect(all.every((u) => u > 0 && u < 1)).toBe(true);
      }),
    );
  });

  it('are spread evenly where they are random', () => {
    const counts = new Array<number>(10).fill(0);
    for (let index = 0; index < 10_000; index += 1) counts[Math.floor(unitHash(`0/a/${index}`) * 10)]! += 1;
    // Five standard deviations of a bin of 1000.
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});

describe('the Sobol sequence', () => {
  it('begins as Joe and Kuo have it', () => {
    const directions = [0, 1, 2].map(sobolDirections);
    const rows = Array.from({ length: 8 }, (_, point) => directions.map((d) => sobolCoordinate(d, point) / 2 ** 32));
    expect(rows).toEqual([
      [0, 0, 0],
      [0.5, 0.5, 0.5],
      [0.75, 0.25, 0.25],
      [0.25, 0.75, 0.75],
      [0.375, 0.375, 0.625],
      [0.875, 0.875, 0.125],
      [0.625, 0.125, 0.875],
      [0.125, 0.625, 0.375],
    ]);
  });

  it('has in every dimension one point in each of 256 slices, also after a shift', () => {
    const dimensions = Array.from({ length: mostSobolDimensions }, (_, index) => `p${index}`);
    const at = unitPoints('sobol', 7, { dimensions, count: 256 });
    for (const dimension of dimensions.keys()) {
      const slices = Array.from({ length: 256 }, (_, point) => Math.floor(at(point, dimension) * 256));
      expect(new Set(slices).size).toBe(256);
    }
  });

  it('has different dimensions', () => {
    const seen = Array.from({ length: mostSobolDimensions }, (_, index) => sobolDirections(index).join());
    expect(new Set(seen).size).toBe(mostSobolDimensions);
  });
});
