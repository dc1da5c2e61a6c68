import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { smooth } from '../../../../src/tui/widgets/chart/chart-series.js';

function series(values: readonly number[]) {
  return { x: Float64Array.from(values, (_, index) => index), y: Float64Array.from(values) };
}

/** The formula as it is written: Σ wⁿ⁻ⁱ (1 − w) vᵢ / (1 − wⁿ). */
function formula(values: readonly number[], weight: number): number {
  const n = values.length;
  const sum = values.reduce((total, value, index) => total + weight ** (n - 1 - index) * (1 - weight) * value, 0);
  return sum / (1 - weight ** n);
}

describe('smoothing', () => {
  it('is the debiased exponential mean of the values so far', () => {
    const value = fc.double({ min: -1e3, max: 1e3, noNaN: true });
    const weight = fc.double({ min: 0.01, max: 0.99, noNaN: true });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 60 }), weight, (values, w) => {
        const { y } = smooth(series(values), w);
        values.forEach((_, index) => expect(y[index]).toBeCloseTo(formula(values.slice(0, index + 1), w), 6));
      }),
    );
  });

  it('begins at the first value, not near zero, and leaves a constant as it is', () => {
    expect([...smooth(series([8, 8, 8]), 0.97).y].map((value) => Math.round(value * 1e9) / 1e9)).toEqual([8, 8, 8]);
  });

  it('leaves gaps open and goes on behind them as if they were not there', () => {
    const { y } = smooth(series([1, Number.NaN, Infinity, 3]), 0.5);
    expect([...y.subarray(1, 3)]).toEqual([Number.NaN, Number.NaN]);
    expect(y[3]).toBeCloseTo(formula([1, 3], 0.5), 12);
  });

  it('is the series itself without a weight, and computed once with one', () => {
    const given = series([1, 2]);
    expect(smooth(given, 0)).toBe(given);
    expect(smooth(given, 0.9)).toBe(smooth(given, 0.9));
  });
});
