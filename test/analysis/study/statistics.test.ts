import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fisherTwoSided } from '../../../src/analysis/failures/fisher-exact.js';
import { drawClustered, resampled95 } from '../../../src/analysis/bootstrap.js';
import { seededRandom } from '../../../src/analysis/parameters/seeded-random.js';
import { signTest, wilson95 } from '../../../src/lab/study/proportion.js';
import { signedRankTest } from '../../../src/analysis/study/signed-ranks.js';
import { logRankTest, SurvivalCurve, type Wait } from '../../../src/lab/study/memory/survival.js';

type Interval = [number, number];
type Facts = {
  wilson: { count: number; of: number; interval: Interval }[];
  sign: { more: number; less: number; p: number }[];
  fisher: { table: [Interval, Interval]; p: number }[];
  wilcoxon: { differences: number[]; p: number }[];
  survival: {
    waits: Wait[];
    by: { time: number; share: number; interval: Interval }[];
    median: number | 'inf';
    interval: (number | 'inf')[];
  }[];
  logrank: { of: Interval; p: number }[];
};
const facts = JSON.parse(
  readFileSync(new URL('../../fixtures/study/statistics.json', import.meta.url), 'utf8'),
) as Facts;
const number = (value: number | 'inf') => (value === 'inf' ? Infinity : value);
const near = (value: number) => expect.closeTo(value, 9) as number;

describe('the statistics of a study agree with scipy and lifelines', () => {
  it.each(facts.wilson)('Wilson: $count of $of', ({ count, of, interval }) => {
    expect(wilson95(count, of)).toEqual(interval.map(near));
  });
  it.each(facts.sign)('sign test: $more against $less', ({ more, less, p }) => {
    expect(signTest(more, less)).toBeCloseTo(p, 10);
  });
  it.each(facts.fisher)('Fisher, two-sided: $table', ({ table: [[a, b], [c, d]], p }) => {
    expect(fisherTwoSided({ inside: { failed: a, runs: a + b }, outside: { failed: c, runs: c + d } })).toBeCloseTo(
      p,
      9,
    );
  });
  it.each(facts.wilcoxon)('Wilcoxon: $differences', ({ differences, p }) => {
    expect(signedRankTest(differences)).toBeCloseTo(p, 10);
  });
  it.each(facts.survival)('Kaplan-Meier: median $median', ({ waits, by, median, interval }) => {
    const curve = new SurvivalCurve(waits);
    for (const { time, share, interval: limits } of by) {
      // Where nothing is left, lifelines gives no width; Wilson's interval is given instead.
      const expected = share === 1 ? wilson95(waits.length, waits.length) : limits;
      expect(curve.happenedBy(time)).toEqual({ share: near(share), interval: expected.map(near) });
    }
    expect(curve.median()).toEqual({ time: number(median), interval: interval.map(number).sort((a, b) => a - b) });
  });
  it.each(facts.logrank)('log-rank: $of', ({ of: [one, other], p }) => {
    const samples = facts.survival.map(({ waits }) => waits);
    expect(logRankTest(samples[one]!, samples[other]!)).toBeCloseTo(p, 7);
  });
});

it('an infinite difference has the highest rank', () => {
  expect(signedRankTest([1, 2, -Infinity, 3])).toBe(signedRankTest([1, 2, -9, 3]));
});

it('cells that hang on the same base models are resampled with the same ones', () => {
  const cell = ['a', 'b', 'c'].flatMap((cluster) => [0, 1].map(() => ({ cluster, value: cluster })));
  const [one, other] = drawClustered([cell, [...cell]], seededRandom(3));
  expect(one).toEqual(other);
});

it('an interval may end at infinity', () => {
  expect(resampled95(1, (random) => (random() < 0.5 ? 1 : Infinity))).toEqual([1, Infinity]);
});
