import { describe, expect, it } from 'vitest';
import { holm } from '../../../src/analysis/statistics.js';
import { difference, meanEstimate, type Result } from '../../../src/analysis/study/metric-intervals.js';

/** Runs of seeds 0, 1, 2 …, of which three and three hang on one base model. */
const results = (values: readonly number[]): Result[] =>
  values.map((value, seed) => ({ pair: `s${seed}`, base: `w${Math.floor(seed / 3)}`, value }));

describe('the mean of a metric', () => {
  it('has an interval by Student’s t over base models: that of their means, where all have as many runs', () => {
    const { interval, ...rest } = meanEstimate(results([1, 1.1, 1.2, 5, 5.1, 5.2, 9, 9.1, 9.2]))!;
    expect(rest).toEqual({ mean: expect.closeTo(5.1, 9) as number, runs: 9, bases: 3 });
    const half = (4.30265 * 4) / Math.sqrt(3);
    expect(interval).toEqual([expect.closeTo(5.1 - half, 3), expect.closeTo(5.1 + half, 3)]);
  });

  it('has that of Student’s t over the runs where they hang on one base model', () => {
    const { interval } = meanEstimate([0, 1, 2, 3, 4].map((value) => ({ pair: null, base: 'w', value })))!;
    const half = 2.7764 * Math.sqrt(2.5 / 5);
    expect(interval).toEqual([expect.closeTo(2 - half, 3), expect.closeTo(2 + half, 3)]);
  });

  it('has no interval of one run, and is nothing of none', () => {
    expect(meanEstimate(results([4]))).toEqual({ mean: 4, interval: null, runs: 1, bases: 1 });
    expect(meanEstimate([])).toBeNull();
  });
});

describe('the difference of two settings', () => {
  const one = results([1, 2, 3, 4, 5, 6]);

  it('is that of runs of the same seeds and base model, however they are ordered', () => {
    const other = results([0, 1, 2, 3, 4, 5]).reverse();
    expect(difference(one, other)).toEqual({ mean: 1, interval: [1, 1], runs: 6, bases: 2, alike: 2, p: 2 / 2 ** 6 });
    const elsewhere = other.map((result) => ({ ...result, base: 'another' }));
    expect(difference(one, elsewhere)).toBeNull();
  });

  it('counts the base models that agree, and has no p where six pairs are not there', () => {
    expect(difference(one, results([0, 0, 0, 5, 6, 7]))).toMatchObject({ mean: 0.5, alike: 1, bases: 2 });
    expect(difference(one.slice(0, 5), one)).toMatchObject({ mean: 0, runs: 5, p: null });
  });
});

it('p of several tests is adjusted as by Holm, in any order', () => {
  expect(holm([0.03, 0.01, 0.04]).map((p) => p.toFixed(2))).toEqual(['0.06', '0.03', '0.06']);
});
