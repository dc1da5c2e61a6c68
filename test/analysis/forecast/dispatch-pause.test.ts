import { describe, expect, it } from 'vitest';
import { pauseBetween } from '../../../src/analysis/forecast/dispatch-pause.js';

/** Runs that start one after another, ms. */
const inRow = (count: number, every: number, took: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ startedAt: from + every * n, endedAt: from + every * n + took }));

describe('the pause between two runs', () => {
  it('is the time for which a slot is free', () => {
    expect(pauseBetween(inRow(50, 40, 30), 1)).toBeCloseTo(0.01);
  });

  it('is longer on more slots, where starts come one at a time', () => {
    // Each of four slots gets every fourth run: 160 ms, of which it is busy for 30.
    expect(pauseBetween(inRow(50, 40, 30), 4)).toBeCloseTo(0.13);
  });

  it('is not a night, nor the time for which nothing waited', () => {
    const day = inRow(50, 40, 30);
    expect(pauseBetween([...day, ...inRow(50, 40, 30, 40_000_000)], 1)).toBeCloseTo(0.01);
  });

  it('is not the time for which a slot was not there yet', () => {
    const two = [...inRow(20, 2000, 1990), ...inRow(20, 2000, 1990, 1)];
    const six = [0, 1, 2, 3, 4, 5].flatMap((slot) => inRow(3, 2000, 1990, 40_000 + slot));
    expect(pauseBetween([...two, ...six], 6)).toBeCloseTo(0.01);
  });

  it('is not told by few runs', () => {
    expect(pauseBetween(inRow(9, 40, 30), 1)).toBe(0);
    expect(pauseBetween([], 1)).toBe(0);
  });

  it('knows the attempts before the last', () => {
    const runs = inRow(25, 80, 30).map((run, n) => ({ ...run, earlier: [[40 + 80 * n, 70 + 80 * n]] as const }));
    expect(pauseBetween(runs, 1)).toBeCloseTo(0.01);
  });
});
