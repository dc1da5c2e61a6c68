import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  combineRewards,
  combineScores,
  normalizedInGroups,
  type Combination,
  type Component,
} from '../../../src/lab/rewards/scores.js';
import { findReward } from '../../../src/lab/rewards/registry.js';
import { ofIds, ofText, vocabulary } from './samples.js';

const plainly: Combination = { maxReward: null, normalize: false };

/** A component that gives these scores. */
function giving(id: string, scores: number[], rest: Partial<Component> = {}): Component {
  return { id, role: 'retain', scale: 1, reward: { name: id, score: () => scores }, ...rest };
}

const batch = (count: number) => Array.from({ length: count }, () => ofText(''));

describe('a reward of components', () => {
  it('is the sum of their scaled scores', async () => {
    const parts = [giving('a', [1, 0.5]), giving('b', [3, 1], { scale: 0.1, role: 'forget' })];
    const scores = await combineRewards(parts, plainly).score(batch(2), 2);
    expect(scores.rewards.map((reward) => reward.toFixed(9))).toEqual(['1.300000000', '0.600000000']);
    expect(scores.retain).toEqual([1, 0.5]);
    expect(scores.components.map(({ id, role, scores: raw }) => [id, role, raw])).toEqual([
      ['a', 'retain', [1, 0.5]],
      ['b', 'forget', [3, 1]],
    ]);
  });

  it('is at most max_reward, and may be negative', async () => {
    const parts = [giving('a', [1, 0.5, 2]), giving('b', [3, 1, 0], { scale: -1 })];
    const scores = await combineRewards(parts, { maxReward: 1, normalize: false }).score(batch(3), 1);
    expect(scores.rewards).toEqual([-2, -0.5, 1]);
  });

  it('equals small-rl’s own sum of sentences and "happy"', async () => {
    const whole = await findReward('sentence_length_10_smooth_with_happy', {}, vocabulary);
    const parts = [
      giving('s', [], { reward: await findReward('sentence_length_10_smooth', {}, vocabulary) }),
      giving('h', [], { reward: await findReward('happy_count_max_5', {}, vocabulary), scale: 0.5, role: 'forget' }),
    ];
    const completions = [ofIds('5. 10? 7!', 'happy '.repeat(7)), ofIds('10. 9.', 'happy'), ofIds('10.', 'no')];
    const scores = await combineRewards(parts, { maxReward: 1, normalize: false }).score(completions, 1);
    const expected = await whole.score(completions);
    scores.rewards.forEach((reward, at) => expect(reward).toBeCloseTo(expected[at]!, 12));
  });

  it('is named after its components, and calls each once, in order', async () => {
    const asked: string[] = [];
    const asking = (id: string) => giving(id, [], { reward: { name: id, score: () => (asked.push(id), [0]) } });
    const combined = combineRewards([asking('a'), asking('b')], { maxReward: null, normalize: true });
    await combined.score(batch(1), 1);
    expect([combined.name, asked]).toEqual(['a+b', ['a', 'b']]);
  });

  it('refuses a batch that is not made of whole groups', () => {
    expect(() => combineScores([], plainly, { samples: 5, groupSize: 2 })).toThrow('5 completions are no whole number');
    expect(() => combineScores([], plainly, { samples: 4, groupSize: 0 })).toThrow('groups of 0');
  });
});

describe('normalized scores', () => {
  it('have their group’s mean subtracted, and are divided by its population standard deviation', async () => {
    const parts = [
      giving('a', [0, 1, 10, 30], { scale: 2 }),
      giving('b', [5, 5, 1, 1], { scale: 100, role: 'forget' }),
    ];
    const scores = await combineRewards(parts, { maxReward: null, normalize: true }).score(batch(4), 2);
    const small = (2 * 0.5) / (0.5 + 1e-4);
    const large = (2 * 10) / (10 + 1e-4);
    [-small, small, -large, large].forEach((reward, at) => expect(scores.rewards[at]).toBeCloseTo(reward, 12));
    expect(scores.plain).toEqual([500, 502, 120, 160]);
    expect(scores.retain).toEqual(scores.rewards);
  });

  it('are exactly 0 when all scores are equal, though their mean differs by rounding', () => {
    expect((0.1 + 0.1 + 0.1) / 3).not.toBe(0.1);
    expect(normalizedInGroups([0.1, 0.1, 0.1], 3)).toEqual([0, 0, 0]);
  });

  it('sum to zero in each group, do not change with a constant shift, and hardly with the scale', () => {
    const groups = fc.array(fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 4, maxLength: 4 }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(groups, fc.integer({ min: -50, max: 50 }), (all, shift) => {
        const scores = all.flat();
        const normalized = normalizedInGroups(scores, 4);
        const moved = normalizedInGroups(
          scores.map((score) => score + shift),
          4,
        );
        const scaled = normalizedInGroups(
          scores.map((score) => score * 10),
          4,
        );
        all.forEach((group, at) => {
          const of = (list: number[]) => list.slice(4 * at, 4 * at + 4);
          expect(Math.abs(of(normalized).reduce((sum, each) => sum + each, 0))).toBeLessThan(1e-9);
          if (group.every((score) => score === group[0])) expect(of(normalized)).toEqual([0, 0, 0, 0]);
        });
        normalized.forEach((each, at) => {
          expect(moved[at]).toBeCloseTo(each, 9);
          // 1e-4 beside a standard deviation of at least √3/4.
          expect(Math.abs(scaled[at]! - each)).toBeLessThanOrEqual(Math.abs(each) * 3e-4);
        });
      }),
    );
  });
});
