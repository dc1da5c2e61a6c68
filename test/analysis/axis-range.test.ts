import { describe, expect, it } from 'vitest';
import { type Extent, robustRange, wantsLog } from '../../src/analysis/axis-range.js';

const curve = (low: number, high: number): Extent => ({ low, high });
const calm = [curve(0.01, 1.4), curve(0.02, 1.3), curve(0.01, 0.8)];
const wild = curve(24, 1.8e20);

describe('the range of an axis', () => {
  it.each<{ of: string; curves: Extent[]; range: Extent | null }>([
    { of: 'nothing', curves: [], range: null },
    { of: 'curves without a value', curves: [curve(Infinity, -Infinity)], range: null },
    { of: 'calm curves', curves: calm, range: curve(0.01, 1.4) },
    { of: 'calm curves and one that exploded', curves: [...calm, wild], range: curve(0.01, 1.4) },
    {
      of: 'calm curves and two that exploded to either side',
      curves: [...calm, wild, curve(-1e9, 2)],
      range: curve(0.01, 1.4),
    },
    { of: 'one calm curve among two that exploded', curves: [calm[0]!, wild, wild], range: curve(0.01, 1.8e20) },
    { of: 'a single curve', curves: [wild], range: wild },
    { of: 'curves that differ much, but not beyond measure', curves: [...calm, curve(0, 5000)], range: curve(0, 5000) },
    { of: 'curves of zeros and another one', curves: [curve(0, 0), curve(0, 0), curve(0, 3)], range: curve(0, 3) },
  ])('of $of', ({ curves, range }) => {
    expect(robustRange(curves)).toEqual(range);
  });

  it.each<{ low: number; high: number; middle: number; isLog: boolean }>([
    { low: 0.01, high: 1.4, middle: 0.02, isLog: false },
    { low: 1e-4, high: 1, middle: 0.002, isLog: true },
    { low: 1e-5, high: 1, middle: 0.9, isLog: false },
    { low: 1, high: 1e5, middle: 5e4, isLog: false },
    { low: 1, high: 1.8e20, middle: 1e10, isLog: true },
    { low: 0, high: 1e20, middle: 1, isLog: false },
    { low: -1, high: 1e20, middle: 1, isLog: false },
  ])('from $low to $high around $middle is logarithmic: $isLog', ({ low, high, middle, isLog }) => {
    expect(wantsLog({ low, high }, () => middle)).toBe(isLog);
  });
});
