import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fractionOf,
  partOf,
  Ruler,
  type Scale,
  valueAt,
} from '../../../../../src/tui/widgets/chart/axes/chart-scale.js';

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
