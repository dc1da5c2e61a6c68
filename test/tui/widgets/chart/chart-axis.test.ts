import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clockTicks,
  exactSeconds,
  exactTime,
  fractionOf,
  logTicks,
  partOf,
  Ruler,
  type Scale,
  secondTicks,
  valueAt,
} from '../../../../src/tui/widgets/chart/chart-axis.js';

const linear = fc
  .tuple(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.double({ min: 1e-3, max: 1e6, noNaN: true }))
  .map(([low, size]): Scale => ({ low, high: low + size, isLog: false }));
const logarithmic = fc
  .tuple(fc.double({ min: -100, max: 100, noNaN: true }), fc.double({ min: 0.01, max: 100, noNaN: true }))
  .map(([low, decades]): Scale => ({ low: 10 ** low, high: 10 ** (low + decades), isLog: true }));
const scale = fc.oneof(linear, logarithmic);

describe('an axis', () => {
  it('finds the fraction of the value at a fraction', () => {
    fc.assert(
      fc.property(scale, fc.double({ min: -0.5, max: 1.5, noNaN: true }), (axis, fraction) => {
        expect(fractionOf(axis, valueAt(axis, fraction))).toBeCloseTo(fraction, 5);
      }),
    );
  });

  it('has its ends at 0 and 1, also where the range is as large as numbers are', () => {
    const whole: Scale = { low: -Number.MAX_VALUE, high: Number.MAX_VALUE, isLog: false };
    expect([-Number.MAX_VALUE, 0, Number.MAX_VALUE].map((value) => fractionOf(whole, value))).toEqual([0, 0.5, 1]);
    fc.assert(
      fc.property(scale, (axis) => {
        expect([fractionOf(axis, axis.low), fractionOf(axis, axis.high)]).toEqual([0, 1]);
      }),
    );
  });

  it('has no place for what has no logarithm', () => {
    const axis: Scale = { low: 1, high: 100, isLog: true };
    expect([0, -1, Number.NaN].map((value) => fractionOf(axis, value))).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    expect(fractionOf(axis, 10)).toBe(0.5);
  });

  it('shows a part of itself, equal factors apart where it is logarithmic', () => {
    const part = partOf({ low: 1, high: 10_000, isLog: true }, { from: 0.25, to: 0.5 });
    expect(part.low).toBeCloseTo(10, 9);
    expect(part.high).toBeCloseTo(100, 9);
  });

  it('places points as its fractions say, at finite places outside', () => {
    fc.assert(
      fc.property(scale, fc.double({ noNaN: true }), (axis, value) => {
        const position = new Ruler(axis, 99).at(value);
        const fraction = fractionOf(axis, value);
        if (Number.isNaN(fraction)) expect(position).toBeNaN();
        else if (Math.abs(fraction) < 1e3) expect(position).toBeCloseTo(fraction * 99, 3);
        else expect(Math.abs(position)).toBeLessThanOrEqual(1e9);
      }),
    );
  });
});

describe('marks of a logarithmic axis', () => {
  it.each([
    { low: 1, high: 1000, most: 4, expected: [1, 10, 100, 1000] },
    { low: 0.05, high: 3, most: 9, expected: [0.05, 0.1, 0.2, 0.5, 1, 2] },
    { low: 1e-12, high: 1e12, most: 5, expected: [1e-10, 1e-5, 1, 1e5, 1e10] },
    { low: 1, high: 1e9, most: 1, expected: [1] },
    { low: 3, high: 4, most: 3, expected: [3, 3.5, 4] },
    { low: 0, high: 10, most: 5, expected: [] },
    { low: -1, high: 10, most: 5, expected: [] },
  ])('from $low to $high, at most $most', ({ low, high, most, expected }) => {
    expect(logTicks(low, high, most)).toEqual(expected);
  });

  it('are inside, rise, and are no more than asked for', () => {
    const exponent = fc.double({ min: -290, max: 290, noNaN: true });
    const decades = fc.double({ min: 0.001, max: 15, noNaN: true });
    fc.assert(
      fc.property(exponent, decades, fc.integer({ min: 1, max: 20 }), (from, size, most) => {
        const [low, high] = [10 ** from, 10 ** (from + size)];
        const marks = logTicks(low, high, most);
        expect(marks.length).toBeLessThanOrEqual(Math.max(2, most));
        for (const [index, mark] of marks.entries()) {
          expect(mark).toBeGreaterThanOrEqual(low * (1 - 1e-6));
          expect(mark).toBeLessThanOrEqual(high * (1 + 1e-6));
          if (index > 0) expect(mark).toBeGreaterThan(marks[index - 1]!);
        }
      }),
    );
  });
});

describe('marks of an axis of time', () => {
  it.each([
    { high: 50, expected: ['0', '15s', '30s', '45s'] },
    { high: 400, expected: ['0', '2m', '4m', '6m'] },
    { high: 20_000, expected: ['0', '2h', '4h'] },
    { high: 400_000, expected: ['0', '2d', '4d'] },
  ])('over $high seconds', ({ high, expected }) => {
    expect(secondTicks(0, high, 5).map(({ label }) => label)).toEqual(expected);
  });

  it('are at round times of the day of this place', () => {
    const start = 1_767_600_123;
    const marks = clockTicks(start, start + 6 * 3600, 5);
    expect(marks.length).toBeGreaterThan(1);
    for (const { value, label } of marks) {
      expect(label).toMatch(/^\d\d:00$/);
      expect(exactTime(value)).toMatch(new RegExp(`${label}:00$`));
      expect(value).toBeGreaterThanOrEqual(start);
    }
  });

  it.each([
    [0.25, '0.25s'],
    [59, '59s'],
    [61, '01m01s'],
    [3723.4, '1h02m03s'],
    [-90, '-01m30s'],
  ])('read exactly: %d s is %s', (value, text) => {
    expect(exactSeconds(value)).toBe(text);
  });
});
