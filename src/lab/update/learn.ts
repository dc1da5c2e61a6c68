/** Training on groups of rollouts: rewards become advantages, rollouts become datums, and datums optimizer steps. */
import { advantages, type AdvantageEstimator, type Scale } from '../advantages/advantages.js';
import type { AdamOptions } from '../engine/engine.js';
import { k3, type Normalization, type Objective, type Pull } from '../objectives/objectives.js';
import type { Rollout } from '../rollouts/rollouts.js';
import type { CountTime } from '../run/step-times.js';
import type { Datum, TrainingService } from '../service/service.js';
import {
  comparedWith,
  cookbookAdam,
  datumsOf,
  type KlPenalty,
  handleLater,
  type Prepared,
  type RolloutDatum,
  update,
  updateInParts,
  type UpdateOptions,
  type UpdateStatistics,
} from './update.js';

/** `reference`: the model at the start of the run, for the KL terms; null when there are none. */
export type Models = { readonly service: TrainingService; readonly reference: TrainingService | null };

/** How a batch of groups becomes optimizer steps. */
export type LearningOptions = {
  readonly objective: Objective;
  readonly estimator: AdvantageEstimator;
  readonly scale: Scale;
  readonly normalization: Normalization;
  /** Coefficient of the KL term of the loss; 0: none. */
  readonly pull: number;
  /** Estimator of that KL; default k3. */
  readonly pullEstimator?: Pull;
  /** KL penalty in the advantages; null: none. */
  readonly penalty: KlPenalty | null;
  readonly entropyCoefficient: number;
  readonly skipConstantGroups: boolean;
  readonly learningRate: number;
  /** Default: Adam as tinker-cookbook sets it. */
  readonly adam?: Omit<AdamOptions, 'learningRate'>;
  readonly temperature: number;
  readonly maxStepKl: number | null;
  /** Whether to measure the KL between the policy before and after the updates; default false. */
  readonly measuresMove?: boolean;
  /** Whether to compute statistics also for a batch without signal; default false. */
  readonly measuresAll?: boolean;
  readonly substeps: number;
  /** Datums of a forward and backward pass; default: all. */
  readonly microbatch?: number;
  readonly afterPass?: UpdateOptions['afterPass'];
  /** Whether earlier weights than the present ones may have sampled; default false. */
  readonly offPolicy?: boolean;
  /** Counts the time of each part, by the names of tinker-cookbook; default: not counted. */
  readonly count?: CountTime;
  /** Whether requests are submitted before the results of earlier ones have arrived; default false. */
  readonly isPipelined?: boolean;
};

/** `policyBase`: mean of the tokens' log-probability less that under the reference, before the first step, in nats. */
export type BatchUpdate = {
  readonly statistics: UpdateStatistics;
  readonly policyBase: number;
  readonly moved: PolicyMove | null;
};

type Groups = readonly (readonly Rollout[])[];

const uncounted: CountTime = (_, work) => work();

/**
 * Trains on a batch of groups that has been played. A group with equal rewards stays in the batch unless it is to be
 * skipped; it counts in the divisors of the loss either way.
 *
 * @returns null when there was no signal, and the weights are unchanged.
 */
export async function learn(
  models: Models,
  groups: Groups,
  how: LearningOptions,
  step: number,
): Promise<BatchUpdate | null> {
  const { datums, policyBase } = await prepare(models, groups, how);
  if (datums.length === 0) return null;
  const { count = uncounted } = how;
  const statistics = await count('train_step', () => update(models.service, datums, optionsOf(how, step)));
  return { statistics, policyBase, moved: await movedBy(models, datums, how) };
}

/**
 * Trains on a batch whose minibatches are still being played: the gradient of each is computed when its groups are
 * there, and one optimizer step follows the minibatches of a substep. Losses are sums, so the gradients are those of
 * `learn` on the whole batch.
 *
 * @param substeps For each optimizer step the groups of its minibatches.
 */
export async function learnAsPlayed(
  models: Models,
  substeps: readonly (readonly Promise<Groups>[])[],
  how: LearningOptions,
  step: number,
): Promise<BatchUpdate> {
  const prepared: Prepared[] = [];
  const datums = substeps.map((minibatches) =>
    minibatches.map((groups) =>
      handleLater(
        groups.then(async (played) => {
          const minibatch = await prepare(models, played, how);
          prepared.push(minibatch);
          return minibatch.datums;
        }),
      ),
    ),
  );
  const statistics = await updateInParts(models.service, datums, optionsOf(how, step));
  const tokens = prepared.reduce((sum, minibatch) => sum + minibatch.tokens, 0);
  const policyBase =
    prepared.reduce((sum, minibatch) => sum + minibatch.policyBase * minibatch.tokens, 0) / Math.max(1, tokens);
  const all = prepared.flatMap((minibatch) => minibatch.datums);
  return { statistics, policyBase, moved: await movedBy(models, all, how) };
}

function prepare(models: Models, groups: Groups, how: LearningOptions): Promise<Prepared> {
  const { count = uncounted } = how;
  return count('prepare_minibatch', async () => {
    const datums = await count('assemble_training_data', async () => assembleDatums(groups, how));
    const { reference } = models;
    if (reference === null || datums.length === 0) return { datums, policyBase: 0, tokens: 0 };
    return count('kl_vs_base', () => comparedWith(reference, { service: models.service, datums }, how));
  });
}

function assembleDatums(groups: Groups, how: LearningOptions): RolloutDatum[] {
  const compared: number[][][] = [];
  for (const group of groups) compared.push(advantages(earnedIn(group), how.estimator, how.scale));
  const { normalization } = how;
  const all = datumsOf(groups, { advantages: compared, normalization, sampled: samplerOf(how) });
  return how.skipConstantGroups ? all.filter(({ hasSignal }) => hasSignal) : all;
}

function earnedIn(group: readonly Rollout[]): number[][] {
  const earned: number[][] = [];
  for (const { rewards } of group) earned.push(Array.from(rewards, ({ total }) => total));
  return earned;
}

/**
 * The sampler's log-probabilities. null at another temperature than 1, where the first optimizer step takes the ratio
 * as 1: the policy that sampled is the one being trained.
 */
function samplerOf(how: LearningOptions): ((rollout: Rollout) => ArrayLike<number>) | null {
  const { temperature, substeps, offPolicy = false, measuresMove = false } = how;
  if (temperature === 1) return ({ logprobs }) => logprobs;
  return substeps === 1 && !offPolicy && !measuresMove ? null : ({ samplingLogprobs }) => samplingLogprobs;
}

function optionsOf(how: LearningOptions, step: number): UpdateOptions {
  const { objective, temperature, substeps, entropyCoefficient, maxStepKl } = how;
  const pull = how.pull === 0 ? null : { estimator: how.pullEstimator ?? k3, coefficient: how.pull };
  return {
    step,
    loss: { objective, temperature, pull, entropyCoefficient },
    adam: { ...(how.adam ?? cookbookAdam), learningRate: how.learningRate },
    substeps,
    microbatch: how.microbatch ?? null,
    ...(how.afterPass !== undefined && { afterPass: how.afterPass }),
    maxStepKl,
    measuresAll: how.measuresAll ?? false,
    isPipelined: how.isPipelined ?? false,
  };
}

async function movedBy(
  { service }: Models,
  datums: readonly RolloutDatum[],
  { measuresMove = false, temperature, count = uncounted }: LearningOptions,
): Promise<PolicyMove | null> {
  return measuresMove ? count('compute_post_kl', () => movedOn(datums, service, temperature)) : null;
}

/** How far a policy moved on generated tokens: sums of log-probability before less after, and of half its square. */
type PolicyMove = { readonly kl1: number; readonly kl2: number; readonly tokens: number };

/** @param datums With the log-probabilities at sampling. */
export async function movedOn(
  datums: readonly Datum[],
  service: Pick<TrainingService, 'forward'>,
  temperature: number,
): Promise<PolicyMove> {
  const after = await service.forward(datums, { temperature });
  let [kl1, kl2, tokens] = [0, 0, 0];
  datums.forEach(({ weights, logprobs: before }, index) => {
    for (let token = 0; token < weights.length; token++) {
      if (weights[token] === 0) continue;
      const difference = before![token]! - after[index]![token]!;
      kl1 += difference;
      kl2 += difference ** 2 / 2;
      tokens++;
    }
  });
  return { kl1, kl2, tokens };
}
