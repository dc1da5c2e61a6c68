/** Both batches: answers of the policy, and what the step is made from. */
import { advantages } from '../../advantages/advantages.js';
import type { Engine } from '../../engine/engine.js';
import type { Environment } from '../../environments/environment.js';
import { tokenWeights } from '../../objectives/objectives.js';
import { total, type ScoredSequence } from '../../probes/entropy-estimates.js';
import { batchOf, scoresOf, type Batch } from '../../probes/scored-batch.js';
import { rng } from '../../rng.js';
import { taskOf } from '../../rollouts/batches.js';
import { rollOut, type Rollout } from '../../rollouts/rollouts.js';
import type { EngineService } from '../../service/engine-service.js';
import type { EntropyConfig } from './keys.js';

/** `service` writes; `exact` scores the same weights. */
export type Policy = { readonly service: EngineService; readonly exact: Engine; readonly environment: Environment };

/** Tasks of a batch and their answers. Other names are other tasks, where the environment has no end of them. */
export async function played(
  { service, environment }: Policy,
  config: EntropyConfig,
  { seed, name, prompts, copies }: { seed: number; name: string; prompts: number; copies: number },
): Promise<Rollout[][]> {
  const random = rng(seed, `${name}/tasks`);
  const tasks = Array.from({ length: prompts }, (_, at) => {
    const index = environment.size === Infinity ? at : random.below(environment.size);
    return taskOf(environment, index, { seed, name: `${name}/task` });
  });
  const sampling = { maxTokens: config.max_tokens, temperature: config.temperature };
  return rollOut({ service, environment }, tasks, { copies, sampling, streams: 'own' }, rng(seed, `${name}/sampling`));
}

/** What the step is made from. Arrays are by prompt, then answer. */
export type UpdateBatch = {
  readonly batch: Batch;
  readonly scores_PG: readonly (readonly ScoredSequence[])[];
  readonly rewards_PG: readonly (readonly number[])[];
  readonly advantages_PG: readonly (readonly number[])[];
  /** Of each token in the loss. */
  readonly weights_PG: readonly (readonly number[])[];
};

export async function updateBatch(policy: Policy, config: EntropyConfig, seed: number): Promise<UpdateBatch> {
  const groups = await played(policy, config, { seed, name: 'U', prompts: config.B_U, copies: config.G });
  const batch = batchOf(groups);
  const scores = await scoresOf(policy.exact, batch, config.temperature);
  const rewards_PG = groups.map((group) => group.map(({ rewards }) => total(rewards.map((reward) => reward.total))));
  const scores_PG = groups.map((group, p) => group.map((_, g) => scores[p * config.G + g]!));
  return {
    batch,
    scores_PG,
    rewards_PG,
    advantages_PG: rewards_PG.map((row) =>
      advantages(
        row.map((reward) => [reward]),
        'trajectory',
      ).flat(),
    ),
    weights_PG: tokenWeights(
      scores_PG.map((row) => row.map(({ logprobs }) => logprobs.length)),
      config.loss_normalization,
    ),
  };
}
