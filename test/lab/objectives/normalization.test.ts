import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advantages } from '../../../src/lab/advantages/advantages.js';
import { ppo, tokenWeights } from '../../../src/lab/objectives/objectives.js';

const batches = fc.array(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 5,
});
/** Sum over all tokens of the batch of their weights. */
const total = (lengths: number[][], weights: number[][]): number =>
  lengths.reduce((sum, row, p) => sum + row.reduce((part, length, g) => part + length * weights[p]![g]!, 0), 0);

describe('the weight of a token', () => {
  it.each([
    {
      how: 'sum' as const,
      expected: [
        [1, 1],
        [1, 1, 1],
      ],
    },
    // Five sequences.
    {
      how: 'grpo' as const,
      expected: [
        [1 / 10, 1 / 20],
        [1 / 5, 1 / 5, 1 / 15],
      ],
    },
    // Two groups; of two sequences and at most 4 tokens, and of three and at most 3.
    {
      how: 'dr_grpo' as const,
      expected: [
        [1 / 16, 1 / 16],
        [1 / 18, 1 / 18, 1 / 18],
      ],
    },
  ])('equals a computation by hand: $how', ({ how, expected }) => {
    const found = tokenWeights(
      [
        [2, 4],
        [1, 1, 3],
      ],
      how,
    ).flat();
    found.forEach((weight, at) => expect(weight).toBeCloseTo(expected.flat()[at]!, 15));
  });

  it('makes the loss of GRPO a mean: all weights sum to one', () => {
    fc.assert(
      fc.property(batches, (lengths) => {
        expect(total(lengths, tokenWeights(lengths, 'grpo'))).toBeCloseTo(1, 12);
      }),
    );
  });

  it('is equal within a group in Dr. GRPO; all weights sum to one when all answers are equally long', () => {
    fc.assert(
      fc.property(batches, (lengths) => {
        const weights = tokenWeights(lengths, 'dr_grpo');
        for (const row of weights) expect(new Set(row).size).toBe(1);
        expect(total(lengths, weights)).toBeLessThanOrEqual(1 + 1e-12);
        const even = lengths.map((row) => row.map(() => row[0]!));
        expect(total(even, tokenWeights(even, 'dr_grpo'))).toBeCloseTo(1, 12);
      }),
    );
  });
});

describe('the loss of Dr. GRPO with the longest answer as the divisor', () => {
  const rewards = [
    [1, 0],
    [0, 1],
  ];
  const now = [
    [
      [-1, -2, -3],
      [-0.5, -0.5],
    ],
    [[-1], [-2, -2]],
  ];
  const before = [
    [
      [-1.1, -2, -2.5],
      [-0.5, -0.9],
    ],
    [[-1], [-1.5, -2.2]],
  ];
  const weights = tokenWeights(
    now.map((group) => group.map(({ length }) => length)),
    'dr_grpo',
  );
  const { loss } = ppo({ low: 0.8, high: 1.2 });
  const lossOf = (scale = 1) =>
    now.map((group, p) => {
      const advantage_G = advantages(
        rewards[p]!.map((reward) => [reward * scale]),
        'trajectory',
      );
      const sums = group.map((tokens, g) =>
        tokens.reduce((sum, lp, t) => sum + weights[p]![g]! * loss(lp, before[p]![g]![t]!, advantage_G[g]![0]!), 0),
      );
      return sums.reduce((sum, each) => sum + each, 0);
    });

  it('has the values of two prompts computed by hand', () => {
    const [first, second] = lossOf();
    // Each is a half of its prompt's own loss: they are a mean over two prompts.
    expect(2 * first!).toBeCloseTo(-0.018323, 6);
    expect(2 * second!).toBeCloseTo(-0.100816, 6);
    expect(first! + second!).toBeCloseTo(-0.0595697, 7);
  });

  it('grows with the rewards, unlike that of GRPO, and advantages of a prompt sum to 0', () => {
    lossOf(3).forEach((scaled, p) => expect(scaled).toBeCloseTo(3 * lossOf()[p]!, 12));
    for (const row of rewards) {
      const each = advantages(
        row.map((reward) => [reward]),
        'trajectory',
      );
      expect(each.flat().reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 15);
    }
  });

  it('is the sum of the losses of parts with equally many prompts', () => {
    const parts = now.map((group) => tokenWeights([group.map(({ length }) => length)], 'dr_grpo'));
    parts.forEach(([row], p) => row!.forEach((weight, g) => expect(weight / 2).toBeCloseTo(weights[p]![g]!, 15)));
  });
});
