import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Series } from '../../../../src/tui/state/port.js';
import { type Scale, valueAt } from '../../../../src/tui/widgets/chart/chart-axis.js';
import { aggregate, type Member } from '../../../../src/tui/widgets/chart/chart-series.js';

type Points = readonly (readonly [x: number, y: number])[];

function series(points: Points) {
  return { x: Float64Array.from(points, ([x]) => x), y: Float64Array.from(points, ([, y]) => y) };
}

const member = (of: Series): Member => ({ series: of, isCarried: false });
const carried = (of: Series): Member => ({ series: of, isCarried: true });

/** One cell of one run, written without any cleverness. */
function naiveValue(points: Points, scale: Scale, cell: number, cells: number): number {
  const [from, to] = [valueAt(scale, cell / cells), valueAt(scale, (cell + 1) / cells)];
  const isLast = cell === cells - 1;
  const inside = points.filter(([x]) => x >= from && (isLast ? x <= scale.high : x < to));
  const known = inside.filter(([, y]) => Number.isFinite(y));
  if (inside.length > 0) return known.length === 0 ? Number.NaN : mean(known.map(([, y]) => y));
  const middle = valueAt(scale, (cell + 0.5) / cells);
  const before = points.findLast(([x]) => x < from);
  const after = points.find(([x]) => x >= from);
  if (before === undefined || after === undefined) return Number.NaN;
  return before[1] + ((after[1] - before[1]) * (middle - before[0])) / (after[0] - before[0]);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const run = fc
  .array(
    fc.tuple(
      fc.integer({ min: 1, max: 9 }),
      fc.oneof(
        { weight: 9, arbitrary: fc.double({ min: -100, max: 100, noNaN: true }) },
        { weight: 1, arbitrary: fc.constant(Number.NaN) },
      ),
    ),
    { minLength: 1, maxLength: 40 },
  )
  .map((steps) => {
    let x = 0;
    return steps.map(([size, y]) => [(x += size), y] as const);
  });

describe('seeds drawn as one', () => {
  it('are what a naive mean over the cells gives, with runs of other lengths and other steps', () => {
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 50 }), (runs, cells) => {
        const high = Math.max(...runs.flatMap((points) => points.map(([x]) => x)));
        const scale: Scale = { low: 0.5, high, isLog: false };
        const { line, counts } = aggregate(runs.map(series).map(member), scale, cells, 'std');
        for (let cell = 0; cell < cells; cell++) {
          const values = runs.map((points) => naiveValue(points, scale, cell, cells)).filter(Number.isFinite);
          expect(counts[cell]).toBe(values.length);
          if (values.length === 0) expect(line.y[cell]).toBeNaN();
          else expect(line.y[cell]).toBeCloseTo(mean(values), 6);
        }
      }),
    );
  });

  it('count each run within its own range only, and have a band only where there are two', () => {
    const long = series([
      [0, 1],
      [10, 1],
    ]);
    const short = series([
      [0, 3],
      [5, 3],
    ]);
    const { line, low, high, counts } = aggregate(
      [long, short].map(member),
      { low: 0, high: 10, isLog: false },
      10,
      'std',
    );
    expect([...counts]).toEqual([2, 2, 2, 2, 2, 2, 1, 1, 1, 1]);
    expect([...line.y]).toEqual([2, 2, 2, 2, 2, 2, 1, 1, 1, 1]);
    expect(high[0]! - low[0]!).toBeCloseTo(2 * Math.SQRT2, 9);
    expect([low[9], high[9]]).toEqual([Number.NaN, Number.NaN]);
  });

  it('do not close the gap of a run', () => {
    const gap = series([
      [0, 1],
      [4, Number.NaN],
      [10, 1],
    ]);
    const { line } = aggregate([member(gap)], { low: 0, high: 10, isLog: false }, 10, 'iqm');
    expect([...line.y].map(Number.isNaN)).toEqual([false, ...new Array<boolean>(8).fill(true), false]);
  });

  it('are joined as they are drawn on a logarithmic axis', () => {
    const ends = series([
      [1, 0],
      [10_000, 4],
    ]);
    const { line } = aggregate([ends, ends].map(member), { low: 1, high: 10_000, isLog: true }, 4, 'band');
    expect(line.x[1]).toBeCloseTo(10 ** 1.5, 9);
    expect(line.y[1]).toBeCloseTo(1.5, 9);
  });

  const tenths: Scale = { low: 0, high: 10, isLog: false };
  const flat = (value: number, until: number) =>
    series([
      [0, value],
      [until, value],
    ]);

  it('keep a run that ended early with its last value where it is carried, and say of how many they speak', () => {
    const {
      line,
      low,
      counts,
      carried: behind,
    } = aggregate([member(flat(1, 10)), carried(flat(3, 5))], tenths, 10, 'std');
    expect([...line.y]).toEqual(new Array<number>(10).fill(2));
    expect([...counts]).toEqual([2, 2, 2, 2, 2, 2, 1, 1, 1, 1]);
    expect([...behind]).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
    expect(low[9]).toBeCloseTo(2 - Math.SQRT2, 9);
  });

  it('end where the last of them has ended', () => {
    const { line, counts } = aggregate([carried(flat(1, 3)), carried(flat(3, 5))], tenths, 10, 'std');
    expect([...line.y].map(Number.isNaN)).toEqual([
      ...new Array<boolean>(6).fill(false),
      ...new Array<boolean>(4).fill(true),
    ]);
    expect(counts[5]).toBe(1);
    expect(line.y[5]).toBe(2);
  });

  it('do not carry a run that ended with a value that is no number', () => {
    const broken = series([
      [0, 3],
      [4, 3],
      [5, Number.NaN],
    ]);
    const { line, carried: behind } = aggregate([member(flat(1, 10)), carried(broken)], tenths, 10, 'std');
    expect(line.y[9]).toBe(1);
    expect([...behind].every((count) => count === 0)).toBe(true);
  });
});
