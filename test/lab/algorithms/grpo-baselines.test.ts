import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Baseline } from '../../../src/lab/algorithms/grpo-settings.js';
import { comparedInGroups } from '../../../src/lab/algorithms/grpo.js';

type Paid = { rewards: number[]; retain: number[]; flagged: boolean[]; groupSize: number };

/** Of completions of one turn each. */
function advantagesOf({ groupSize, ...paid }: Paid, baseline: Baseline | null): number[] {
  const turn = { tokens: new Int32Array(1), logprobs: new Float32Array(1), text: '', ended: 'stop' } as const;
  const group = Array.from({ length: groupSize }, () => ({ turns: [turn] }));
  const groups = Array.from({ length: paid.rewards.length / groupSize }, () => group);
  return comparedInGroups(groups, paid, baseline).flat(2);
}

function plainly(rewards: number[], groupSize = rewards.length): number[] {
  return advantagesOf({ rewards, retain: rewards, flagged: rewards.map(() => false), groupSize }, null);
}

describe('advantages', () => {
  it.each([
    [
      [1, 0, 0, 0],
      [1.4997, -0.4999, -0.4999, -0.4999],
    ],
    [
      [1, 1, 1, 1],
      [0, 0, 0, 0],
    ],
    [
      [0.2, 0.4, 0.6, 0.8],
      [-1.161445, -0.387148, 0.387148, 1.161445],
    ],
  ])("of %j are TRL's", (rewards, expected) => {
    plainly(rewards).forEach((advantage, index) => expect(advantage).toBeCloseTo(expected[index]!, 4));
  });

  it('sum to 0 in each group, and do not depend on other groups or on a constant shift', () => {
    const group = fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(group, group, fc.integer({ min: -5, max: 5 }), (a, b, shift) => {
        const both = plainly([...a, ...b], 4);
        expect(both.slice(0, 4).reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 9);
        expect(both.slice(4)).toEqual(plainly(b));
        const shifted = plainly(a.map((reward) => reward + shift));
        shifted.forEach((value, index) => expect(value).toBeCloseTo(both[index]!, 9));
      }),
    );
  });
});

describe('baselines of routing', () => {
  const rewards = [1, 0.5, 0, 1];
  const flagged = [true, false, false, false];
  const retain = [0.25, 0.5, 0, 1];
  const found = (baseline: Parameters<typeof advantagesOf>[1]) =>
    advantagesOf({ rewards, retain, flagged, groupSize: 4 }, baseline);

  it('filter: a flagged completion has no gradient, and the others keep theirs', () => {
    expect(found('filter')).toEqual([0, ...plainly(rewards).slice(1)]);
  });

  it('reward_penalty: a flagged completion gets reward 0, which counts in the group’s mean', () => {
    expect(found('reward_penalty')).toEqual(plainly([0, 0.5, 0, 1]));
  });

  it('retain_penalty: a flagged completion gets the reward of the task alone', () => {
    expect(found('retain_penalty')).toEqual(plainly([0.25, 0.5, 0, 1]));
  });
});
