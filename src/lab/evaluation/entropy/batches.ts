/** Batches of answers: some to measure the policy's entropy on, others for the update. */
import type { Engine } from '../../engine/engine.js';
import type { Environment } from '../../environments/environment.js';
import type { ScoredSequence } from '../../probes/entropy-estimates.js';
import { rewardedBatch, type RewardedBatch } from '../../probes/prompt-gradients.js';
import { batchOf, scoresOf, type Batch } from '../../probes/scored-batch.js';
import { rng } from '../../rng.js';
import { inGroups, rollOut, type Rollout, taskOf } from '../../rollouts/rollouts.js';
import type { EngineService } from '../../service/engine-service.js';
import type { EntropyConfig } from './keys.js';

/** `service` samples; `exact` scores with the same weights. */
export type Policy = { readonly service: EngineService; readonly exact: Engine; readonly environment: Environment };

/**
 * Tasks of a batch and their answers. Batches of different names have different tasks when the number of tasks is
 * unlimited.
 */
async function sampleAnswers(
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

/** Answers, with their scores under the policy that sampled them. */
export type Scored = { readonly batch: Batch; readonly scores: readonly ScoredSequence[] };

/** One answer to each prompt. @param name Batches of different names are independent. */
export async function scoredBatch(
  policy: Policy,
  config: EntropyConfig,
  { seed, name, prompts }: { seed: number; name: string; prompts: number },
): Promise<Scored> {
  const batch = batchOf(await sampleAnswers(policy, config, { seed, name, prompts, copies: 1 }));
  return { batch, scores: await scoresOf(policy.exact, batch, config.temperature) };
}

/** The batch of an update, with the scores of each answer. */
export type UpdateBatch = RewardedBatch & { readonly scores_PG: readonly (readonly ScoredSequence[])[] };

export async function updateBatch(
  policy: Policy,
  config: EntropyConfig,
  { seed, name, prompts }: { seed: number; name: string; prompts: number },
): Promise<UpdateBatch> {
  const groups = await sampleAnswers(policy, config, { seed, name, prompts, copies: config.G });
  const rewarded = rewardedBatch(groups, config.loss_normalization);
  const scores = await scoresOf(policy.exact, rewarded.batch, config.temperature);
  return { ...rewarded, scores_PG: inGroups(scores, config.G) };
}
