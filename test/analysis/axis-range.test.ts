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

  it.each<[number, number, boolean]>([
    [0.01, 1.4, false],
    [1e-4, 1, true],
    [1, 1.8e20, true],
    [0, 1e20, false],
    [-1, 1e20, false],
  ])('from %d to %d is logarithmic: %s', (low, high, isLog) => {
    expect(wantsLog({ low, high })).toBe(isLog);
  });
});
