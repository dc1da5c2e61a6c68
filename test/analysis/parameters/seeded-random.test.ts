import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/analysis/parameters/seeded-random.js';

describe('seeded random numbers', () => {
  it('are the same for the same seed, and others for another', () => {
    const five = (seed: number) => Array.from({ length: 5 }, seededRandom(seed));
    expect(five(1)).toEqual(five(1));
    expect(five(1)).not.toEqual(five(2));
  });

  it('are spread evenly over 0 … 1', () => {
    const random = seededRandom(3);
    const bins = new Array<number>(10).fill(0);
    for (let drawn = 0; drawn < 10_000; drawn++) bins[Math.floor(random() * 10)]!++;
    for (const bin of bins) expect(Math.abs(bin - 1000)).toBeLessThan(150);
  });
});
