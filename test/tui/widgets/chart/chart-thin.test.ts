import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Scale, valueAt } from '../../../../src/tui/widgets/chart/chart-axis.js';
import { type Lens, thin } from '../../../../src/tui/widgets/chart/chart-series.js';

function series(count: number, y: (index: number) => number) {
  const x = Float64Array.from({ length: count }, (_, index) => index + 1);
  return { x, y: Float64Array.from(x, (_, index) => y(index)) };
}

const noise = (index: number) =>
  Math.sin(index * 12.9898) * 43_758.5453 - Math.floor(Math.sin(index * 12.9898) * 43_758.5453);
const whole = (count: number, isLog = false): Lens => ({ x: { low: 1, high: count, isLog }, isLogY: false });

/** The lowest and highest value in each of so many stretches of an axis. */
function columns({ x, y }: { x: Float64Array; y: Float64Array }, scale: Scale, count: number): [number, number][] {
  const bounds = Array.from({ length: count }, (_, column) => valueAt(scale, (column + 1) / count));
  const found = bounds.map((): [number, number] => [Infinity, -Infinity]);
  for (let index = 0, column = 0; index < x.length && column < count; index++) {
    while (column < count && x[index]! >= bounds[column]!) column++;
    const cell = found[column];
    if (cell !== undefined) found[column] = [Math.min(cell[0], y[index]!), Math.max(cell[1], y[index]!)];
  }
  return found;
}

describe('thinning', () => {
  it.each([false, true])('keeps the extremes of every column that a screen could have (logarithmic: %s)', (isLog) => {
    const given = series(50_000, noise);
    const lens = whole(50_000, isLog);
    const kept = thin(given, lens);
    expect(kept.x.length).toBeLessThan(3000);
    // Columns that are whole numbers of stretches.
    expect(columns(kept, lens.x, 256).slice(1, -1)).toEqual(columns(given, lens.x, 256).slice(1, -1));
  });

  it('gives a view of a short series, with one point beyond each end of what is shown', () => {
    const given = series(100, (index) => index);
    const kept = thin(given, { x: { low: 10.5, high: 20.5, isLog: false }, isLogY: false });
    expect([kept.x[0], kept.x.at(-1)]).toEqual([10, 21]);
    expect(kept.x.buffer).toBe(given.x.buffer);
  });

  it('keeps one gap where a whole stretch is missing', () => {
    const given = series(100_000, (index) => (index > 40_000 && index < 50_000 ? Number.NaN : 1));
    expect(thin(given, whole(100_000)).y.some(Number.isNaN)).toBe(true);
    const sound = series(100_000, (index) => (index % 7 === 0 ? Number.NaN : 1));
    expect(thin(sound, whole(100_000)).y.slice(1, -1).some(Number.isNaN)).toBe(false);
  });

  it('looks past values that cannot be drawn for the extremes', () => {
    const given = series(10_000, (index) => [Number.NaN, Infinity, -Infinity, -5, 0.25][index % 5]!);
    const drawn = [...thin(given, { ...whole(10_000), isLogY: true }).y].slice(1, -1);
    expect(new Set(drawn)).toEqual(new Set([0.25]));
  });

  it('is computed once per series and lens', () => {
    const given = series(10_000, noise);
    expect(thin(given, whole(10_000))).toBe(thin(given, whole(10_000)));
    expect(thin(given, whole(10_000))).not.toBe(thin(given, whole(10_000, true)));
  });

  it('never gives points out of order or ones that are not there', () => {
    const steps = fc.array(fc.double({ min: 0, max: 10, noNaN: true }), { minLength: 1, maxLength: 3000, size: 'max' });
    fc.assert(
      fc.property(steps, fc.double({ min: 0, max: 1, noNaN: true }), (sizes, from) => {
        let at = 0;
        const x = Float64Array.from(sizes, (size) => (at += size));
        const given = { x, y: x.map((value) => noise(value)) };
        const low = from * at;
        const kept = thin(given, { x: { low, high: low + at / 2 + 1, isLog: false }, isLogY: false });
        const points = new Set(Array.from(x, (value, index) => `${value} ${given.y[index]}`));
        expect([...kept.x].every((value, index) => points.has(`${value} ${kept.y[index]}`))).toBe(true);
        expect([...kept.x].every((value, index) => index === 0 || value >= kept.x[index - 1]!)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});
