import { describe, expect, it } from 'vitest';
import { roundHalfEven } from '../../../../src/lab/environments/memory/rules.js';
import { secretOf } from '../../../../src/lab/environments/memory/memory-environment.js';
import { scoreGuess, type RewardRule, rewardRule } from '../../../../src/lab/environments/memory/rewards.js';

const binned = (bins: number): RewardRule => ({ type: 'binned_log_distance', bins });
const rules: RewardRule[] = [{ type: 'binary' }, { type: 'log_distance' }, ...[2, 4, 8, 16].map(binned)];

describe('the reward of a guess', () => {
  it.each([
    [64, 42, 42, [1, 1, 1, 1, 1, 1]],
    [64, 42, 41, [0, 0.833333, 1, 0.666667, 0.857143, 0.8]],
    [64, 42, 0, [0, 0.095623, 0, 0, 0.142857, 0.066667]],
    [64, 42, 63, [0, 0.256761, 0, 0.333333, 0.285714, 0.266667]],
    [64, 42, null, [0, 0, 0, 0, 0, 0]],
    [1024, 57, 58, [0, 0.9, 1, 1, 0.857143, 0.933333]],
    [1024, 57, 60, [0, 0.8, 1, 0.666667, 0.857143, 0.8]],
    [1024, 57, 1023, [0, 0.008263, 0, 0, 0, 0]],
  ])('N=%i, secret %i, guess %s (binary, log, 2, 4, 8, 16 bins)', (N, secret, guess, expected) => {
    const rewards = rules.map((rule) => scoreGuess(guess, secret, N, rule).reward);
    rewards.forEach((reward, index) => expect(reward).toBeCloseTo(expected[index]!, 6));
  });

  it('treats a missing guess as the farthest, and never as correct', () => {
    expect(scoreGuess(null, 0, 64, { type: 'binary' })).toEqual({ reward: 0, correct: false, distance: 63 });
    expect(scoreGuess(null, 0, 1, { type: 'log_distance' })).toEqual({ reward: 0, correct: false, distance: 0 });
  });

  it.each([
    [16, 8, [0, 1, 2, 4, 5, 8, 13], [7, 5, 4, 3, 2, 1, 0]],
    [64, 8, [0, 1, 2, 4, 8, 14, 26, 47], [7, 6, 5, 4, 3, 2, 1, 0]],
    [1024, 4, [0, 2, 3, 31, 32, 321, 322], [3, 3, 2, 2, 1, 1, 0]],
    [1024, 8, [0, 1, 3, 4, 10, 11, 31, 32, 85, 86, 230, 231, 623, 624], [7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0]],
    [1024, 2, [0, 30, 31], [1, 1, 0]],
    [
      1024,
      16,
      [
        0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 19, 20, 31, 32, 49, 50, 79, 80, 127, 128, 202, 203, 321, 322, 510, 511, 811,
        812,
      ],
      [15, 14, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0],
    ],
    [1024, 32, [0, 1, 2, 3], [31, 28, 26, 25]],
    [4096, 4, [3], [2]],
  ])('N=%i with %i bins has its levels where the distance table says', (N, bins, distances, levels) => {
    const found = distances.map((distance) => scoreGuess(distance, 0, N, binned(bins)).reward * (bins - 1));
    found.forEach((level, index) => expect(level).toBeCloseTo(levels[index]!, 9));
  });

  it.each([
    [16, 8, 7],
    [1024, 32, 29],
  ])('N=%i with %i bins reaches only %i of its levels', (N, bins, reached) => {
    const levels = Array.from({ length: N }, (_, distance) => scoreGuess(distance, 0, N, binned(bins)).reward);
    expect(new Set(levels).size).toBe(reached);
  });

  it('needs at least 2 bins and a secret below N', () => {
    for (const bins of [null, 1, 0]) {
      const rule = { reward_type: 'binned_log_distance', reward_bins: bins } as const;
      expect(() => rewardRule(rule)).toThrow(/at least 2 bins/);
    }
    expect(rewardRule({ reward_type: 'binary', reward_bins: 1 })).toEqual({ type: 'binary' });
    expect(() => secretOf({ N: 64, fixed_secret: 64, dataset_seed: 0 })).toThrow(/not in \[0, 64\)/);
  });

  it.each([
    [16, [2, 0, 0, 0, 0]],
    [64, [6, 0, 0, 0, 0]],
    [256, [14, 1, 0, 0, 0]],
    [1024, [30, 2, 0, 0, 0]],
    [4096, [62, 2, 0, 0, 0]],
  ])('N=%i: the greatest distance with full reward, for 2, 4, 8, 16, 32 bins', (N, reach) => {
    const found = [2, 4, 8, 16, 32].map((bins) => {
      let distance = 0;
      while (distance + 1 < N && scoreGuess(distance + 1, 0, N, binned(bins)).reward === 1) distance++;
      return distance;
    });
    expect(found).toEqual(reach);
  });
});

describe('rounding', () => {
  it.each([
    [2.5, 2],
    [3.5, 4],
    [0.5, 0],
    [1.5, 2],
    [2.4, 2],
    [2.6, 3],
    [0, 0],
  ])('of %f gives %i, as in Python', (value, rounded) => expect(roundHalfEven(value)).toBe(rounded));
});
