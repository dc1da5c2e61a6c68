import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenWeights } from '../../../src/lab/objectives/objectives.js';

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
  ])('is by hand: $how', ({ how, expected }) => {
    const found = tokenWeights(
      [
        [2, 4],
        [1, 1, 3],
      ],
      how,
    ).flat();
    found.forEach((weight, at) => expect(weight).toBeCloseTo(expected.flat()[at]!, 15));
  });

  it('makes the loss of GRPO a mean: all weights sum up to one', () => {
    fc.assert(
      fc.property(batches, (lengths) => {
        expect(total(lengths, tokenWeights(lengths, 'grpo'))).toBeCloseTo(1, 12);
      }),
    );
  });

  it('is one for all tokens of a group in Dr. GRPO, whose weights sum up to one where all answers are equally long', () => {
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
