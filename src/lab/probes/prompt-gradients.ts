import { advantages } from '../advantages/advantages.js';
import type { Engine, Floats } from '../engine/engine.js';
import { totalReward } from '../environments/environment.js';
import { tokenWeights, type Normalization } from '../objectives/objectives.js';
import type { Rollout } from '../rollouts/rollouts.js';
import { batchOf, gradientOf, partOf, type Batch } from './scored-batch.js';

/** Answers to take a policy gradient from. Arrays are by prompt, then answer. */
export type RewardedBatch = {
  readonly batch: Batch;
  /** Number of generated tokens. */
  readonly lengths_PG: readonly (readonly number[])[];
  readonly advantages_PG: readonly (readonly number[])[];
  /** Weight of each token in the loss. */
  readonly weights_PG: readonly (readonly number[])[];
};

/** A batch whose advantages are centred within a prompt and not scaled. */
export function rewardedBatch(groups: readonly (readonly Rollout[])[], normalization: Normalization): RewardedBatch {
  const lengths_PG = groups.map((group) => group.map(({ turnOf }) => turnOf.filter((turn) => turn >= 0).length));
  const centred = (group: readonly Rollout[]) =>
    advantages(
      group.map((rollout) => [totalReward(rollout)]),
      'trajectory',
    ).flat();
  return {
    batch: batchOf(groups),
    lengths_PG,
    advantages_PG: groups.map(centred),
    weights_PG: tokenWeights(lengths_PG, normalization),
  };
}

/** The gradient of the loss −Σ A w log π at the policy that sampled, one a prompt; their mean is that of the batch. */
export async function* promptGradients(
  engine: Engine,
  { batch, lengths_PG, advantages_PG, weights_PG }: RewardedBatch,
  temperature: number,
): AsyncGenerator<Floats> {
  const prompts = advantages_PG.length;
  for (const [p, row] of advantages_PG.entries()) {
    const byLogprob = row.map((A, g) => new Float64Array(lengths_PG[p]![g]!).fill(-A * weights_PG[p]![g]! * prompts));
    yield await gradientOf(engine, partOf(batch, p), { byLogprob, byEntropy: 0 }, temperature);
  }
}
