import { assertNever } from '../../base/assert-never.js';

export const normalizations = ['sum', 'grpo', 'dr_grpo'] as const;

/**
 * What the losses of a batch's tokens are divided by before they are summed.
 *
 * `sum`: nothing, as in the source system. `grpo`: the mean over all sequences of the mean over a sequence's tokens (Shao et
 * al. 2024, eq. 3; TRL's `loss_type="grpo"`), so that a long answer's tokens count less. `dr_grpo`: the mean over groups of
 * the sum over a group's tokens, divided by its size and its longest answer; Liu et al. 2025 divide by a constant in the
 * place of that length. There all tokens of a group count alike.
 */
export type Normalization = (typeof normalizations)[number];

/**
 * The weight of each token of a sequence in the loss.
 *
 * @param lengths_PG Tokens that the model said, for each sequence of each group; all groups of the batch.
 * @returns The same shape.
 */
export function tokenWeights(lengths_PG: readonly (readonly number[])[], how: Normalization): number[][] {
  switch (how) {
    case 'sum':
      return lengths_PG.map((lengths) => lengths.map(() => 1));
    case 'grpo': {
      const sequences = lengths_PG.reduce((sum, lengths) => sum + lengths.length, 0);
      return lengths_PG.map((lengths) => lengths.map((length) => 1 / (sequences * Math.max(1, length))));
    }
    case 'dr_grpo':
      return lengths_PG.map((lengths) => {
        const longest = Math.max(1, ...lengths);
        return lengths.map(() => 1 / (lengths_PG.length * lengths.length * longest));
      });
    default:
      return assertNever(how);
  }
}
