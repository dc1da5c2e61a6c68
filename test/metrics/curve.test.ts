import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedSeries } from '../../src/metrics/curve.js';

const bounds = { older: 16, exact: 8 };
/** A series of these values, row by row. */
const filled = (values: readonly number[]) => {
  const series = new BoundedSeries(bounds);
  values.forEach((value, row) => series.append(row, value));
  return series;
};
const points = ({ x, values, length }: BoundedSeries) =>
  Array.from({ length }, (_, index): [number, number] => [x[index]!, values[index]!]);

describe('a bounded series', () => {
  it('is exact until it is full', () => {
    const series = filled(Array.from({ length: 32 }, (_, index) => index % 5));
    expect(series.isExact).toBe(true);
    expect(series.length).toBe(32);
    series.append(32, 1);
    expect(series.isExact).toBe(false);
    expect(series.length).toBeLessThan(32);
  });

  it('keeps points of the series, rising rows, every extreme and the newest points', () => {
    const value = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: -99, max: 99 }) }, fc.constant(NaN));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 600 }), (values) => {
        const kept = points(filled(values));
        expect(kept.length).toBeLessThanOrEqual(bounds.older + 2 * bounds.exact);
        kept.forEach(([row, value], index) => {
          expect(value).toBe(values[row]);
          if (index > 0) expect(row).toBeGreaterThan(kept[index - 1]![0]);
        });
        const numbers = (all: readonly number[]) => all.filter((each) => !Number.isNaN(each));
        expect(Math.max(...numbers(kept.map(([, each]) => each)))).toBe(Math.max(...numbers(values)));
        expect(Math.min(...numbers(kept.map(([, each]) => each)))).toBe(Math.min(...numbers(values)));
        const newest = kept.slice(-bounds.exact).map(([row]) => row);
        expect(newest).toEqual(newest.map((_, index) => values.length - newest.length + index));
      }),
    );
  });

  it('spreads its older points evenly', () => {
    const series = new BoundedSeries({ older: 256, exact: 128 });
    for (let row = 0; row < 2_000; row++) series.append(row, Math.sin(row));
    const rows = points(series).map(([row]) => row);
    const counts = Array.from({ length: 8 }, (_, part) => rows.filter((row) => Math.floor(row / 200) === part).length);
    expect(Math.min(...counts)).toBeGreaterThan(10);
    expect(Math.max(...counts)).toBeLessThan(2 * Math.min(...counts));
  });

  it('forgets from a row on, and goes on from there', () => {
    const series = filled(Array.from({ length: 100 }, (_, index) => index));
    series.truncate(40);
    expect(points(series).every(([row]) => row < 40)).toBe(true);
    for (let row = 40; row < 60; row++) series.append(row, -row);
    expect(points(series).slice(-8)).toEqual(Array.from({ length: 8 }, (_, index) => [52 + index, -52 - index]));
    series.truncate(0);
    expect(points(series)).toEqual([]);
  });

  it('is exact again once all that was boiled down is forgotten', () => {
    const series = filled(Array.from({ length: 100 }, (_, index) => index));
    series.truncate(0);
    expect(series.isExact).toBe(true);
    for (let row = 0; row < bounds.older + 2 * bounds.exact; row++) series.append(row, -row);
    expect([series.isExact, series.length]).toEqual([true, bounds.older + 2 * bounds.exact]);
  });

  it('puts a late point at its place, also among those that were reduced, and replaces one', () => {
    const series = filled([1, 2]);
    series.insert(0, 7);
    expect([series.replace(1, 8), series.replace(5, 9)]).toEqual([2, null]);
    expect(points(series)).toEqual([[0, 1], [0, 7], [1, 8]]); // prettier-ignore
    const long = filled(Array.from({ length: 200 }, (_, index) => index));
    long.insert(50, -1);
    long.insert(199.5, -2);
    const all = points(long);
    expect(all).toContainEqual([50, -1]);
    expect(all.at(-1)).toEqual([199.5, -2]);
    expect(all.every(([x], index) => index === 0 || x >= all[index - 1]![0])).toBe(true);
    // Of what was reduced it knows that it was there.
    expect(Array.from({ length: 200 }, (_, row) => row).filter((row) => !long.has(row))).toEqual([]);
  });
});
