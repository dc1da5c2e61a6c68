import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { downsample, type Line, spark } from '../../src/metrics/line.js';

const line = (y: number[], x = y.map((_, index) => index)): Line => ({
  x: Float64Array.from(x),
  y: Float64Array.from(y),
});
const pairs = ({ x, y }: Line) => Array.from(x, (at, index) => [at, y[index]]);

describe('downsampling', () => {
  it('gives a short line back as it is', () => {
    const short = line([3, 1, 2]);
    expect(downsample(short, 2)).toBe(short);
    expect(downsample(line([]), 2).x).toHaveLength(0);
  });

  it('keeps the lowest and the highest of each column, in their order', () => {
    expect(pairs(downsample(line([1, 5, 2, 3, 9, 4, 0, 6]), 2))).toEqual([
      [0, 1],
      [1, 5],
      [4, 9],
      [6, 0],
    ]);
  });

  it('makes columns of equal width in x, not of equal count', () => {
    const dense = line([0, 1, 2, 3, 4, 5, 9, 8], [0, 1, 2, 3, 4, 5, 100, 101]);
    expect(pairs(downsample(dense, 2))).toEqual([
      [0, 0],
      [5, 5],
      [100, 9],
      [101, 8],
    ]);
  });

  it('keeps a gap only where a whole column is one', () => {
    const gaps = line([NaN, 1, 2, NaN, NaN, NaN, NaN, NaN, 3, 4, NaN, 5]);
    expect(pairs(downsample(gaps, 3))).toEqual([
      [1, 1],
      [2, 2],
      [4, NaN],
      [8, 3],
      [11, 5],
    ]);
  });

  it('stays bounded when all points have one x, or x falls', () => {
    expect(downsample(line([1, 2, 3, 4, 5, 6], [7, 7, 7, 7, 7, 7]), 2).x.length).toBeLessThanOrEqual(4);
    expect(downsample(line([1, 2, 3, 4, 5, 6], [9, 0, 8, 1, 7, 2]), 2).x.length).toBeLessThanOrEqual(4);
  });

  it('is a short subsequence of the line with the same lowest and highest value', () => {
    const value = fc.oneof({ weight: 5, arbitrary: fc.integer({ min: -50, max: 50 }) }, fc.constant(NaN));
    const step = fc.integer({ min: 0, max: 9 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(step, value), { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 30 }),
        (raw, columns) => {
          let at = 0;
          const all = line(
            raw.map(([, y]) => y),
            raw.map(([dx]) => (at += dx)),
          );
          const some = downsample(all, columns);
          expect(some.x.length).toBeLessThanOrEqual(Math.max(raw.length <= 2 * columns ? raw.length : 0, 2 * columns));
          let from = 0;
          for (const [x, y] of pairs(some)) {
            while (from < raw.length && !(all.x[from] === x && Object.is(all.y[from], y))) from += 1;
            expect(from++).toBeLessThan(raw.length);
          }
          const finite = (values: Float64Array) => [...values].filter((each) => !Number.isNaN(each));
          expect(Math.min(...finite(some.y))).toBe(Math.min(...finite(all.y)));
          expect(Math.max(...finite(some.y))).toBe(Math.max(...finite(all.y)));
        },
      ),
    );
  });
});

describe('a sparkline', () => {
  it('is the values themselves when there are few', () => {
    expect(spark(Float64Array.of(1, NaN, 3))).toEqual([1, null, 3]);
    expect(spark(new Float64Array())).toEqual([]);
  });

  it('is 32 means of equal stretches when there are many, gaps left out', () => {
    const values = Float64Array.from({ length: 128 }, (_, index) => (index % 4 === 0 ? NaN : Math.floor(index / 4)));
    expect(spark(values)).toEqual(Array.from({ length: 32 }, (_, index) => index));
    expect(spark(Float64Array.from({ length: 100 }, () => Infinity))).toEqual(Array.from({ length: 32 }, () => null));
  });
});
