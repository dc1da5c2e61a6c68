import { klPenalties } from '../advantages/advantages.js';
import type { AdamOptions } from '../engine/engine.js';
import { type KlEstimator, type Normalization, tokenWeights } from '../objectives/objectives.js';
import { inGroups, type Rollout } from '../rollouts/rollouts.js';
import { requireFinite } from '../run/finite.js';
import {
  addStatistics,
  type BatchStatistics,
  type Datum,
  emptyStatistics,
  type ForwardBackward,
  type Loss,
  type RoutingPass,
  type StepBound,
  type StepTaken,
  type TrainingService,
} from '../service/service.js';

/** A rollout to train on. `hasSignal`: whether anything in its group differed. */
export type RolloutDatum = Datum & { readonly hasSignal: boolean };

/** Options for turning rollouts into datums. */
type Preparation = {
  /** Advantage of each turn of each rollout of each group. */
  readonly advantages: readonly (readonly (readonly number[])[])[];
  readonly normalization: Normalization;
  /**
   * Log-probabilities of a rollout's tokens under the policy that sampled them; null when the policy being trained is
   * that policy, and the ratio is 1.
   */
  readonly sampled: ((rollout: Rollout) => ArrayLike<number>) | null;
};

/**
 * Makes datums of rollouts. The policy's tokens have weights and the advantages of their turns; the environment's
 * tokens have 0.
 */
export function datumsOf(
  groups: readonly (readonly Rollout[])[],
  { advantages, normalization, sampled }: Preparation,
): RolloutDatum[] {
  const lengths_PG = Array.from(groups, (group) => Array.from(group, generatedTokens));
  const weights_PG = tokenWeights(lengths_PG, normalization);
  const datums: RolloutDatum[] = [];
  groups.forEach((group, g) => {
    const hasSignal = advantages[g]!.some((turns) => turns.some((advantage) => advantage !== 0));
    group.forEach((rollout, index) => {
      datums.push({
        prompt: rollout.task.prompt,
        tokens: new Int32Array(rollout.tokens),
        weights: perToken(rollout, () => weights_PG[g]![index]!),
        advantages: perToken(rollout, (turn) => advantages[g]![index]![turn]!),
        logprobs: sampled?.(rollout),
        hasSignal,
      });
    });
  });
  return datums;
}

function generatedTokens({ turns }: Rollout): number {
  return turns.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/** One number for each token: `value` of its turn for the policy's tokens, 0 for the environment's. */
function perToken({ turnOf }: Rollout, value: (turn: number) => number): number[] {
  const values: number[] = [];
  for (const turn of turnOf) values.push(turn < 0 ? 0 : value(turn));
  return values;
}

/** KL penalty in the advantages: its cost per nat, and the discount of later tokens. */
export type KlPenalty = { readonly coefficient: number; readonly discount: number };

/**
 * Datums to train on. `tokens`: number of generated tokens in them. `policyBase`: mean of the tokens' log-probability
 * less that under the reference, in nats; 0 without a penalty.
 */
export type Prepared = {
  readonly datums: readonly RolloutDatum[];
  readonly policyBase: number;
  readonly tokens: number;
};

/** Adds the reference's log-probabilities to the datums, and the KL penalty if there is one. */
export async function comparedWith(
  reference: TrainingService,
  { service, datums: chosen }: { readonly service: TrainingService; readonly datums: readonly RolloutDatum[] },
  { temperature, penalty }: { readonly temperature: number; readonly penalty: KlPenalty | null },
): Promise<Prepared> {
  const held = await withReference(chosen, reference, temperature);
  if (penalty === null) return { datums: held, policyBase: 0, tokens: 0 };
  const tokens = held.reduce(
    (sum, { weights }) => sum + Array.from(weights).filter((weight) => weight !== 0).length,
    0,
  );
  return { ...(await withPenalty(held, service, { ...penalty, temperature })), tokens };
}

/** Adds log-probabilities under a reference model to the datums. */
export async function withReference<D extends Datum>(
  datums: readonly D[],
  reference: Pick<TrainingService, 'forward'>,
  temperature: number,
): Promise<D[]> {
  const logprobs = await reference.forward(datums, { temperature });
  return datums.map((datum, index) => ({ ...datum, reference: logprobs[index]! }));
}

/**
 * Adds the KL penalty to the advantages of datums that have the reference's log-probabilities.
 *
 * @returns the datums, and the mean of the tokens' log-probability less that under the reference, in nats.
 */
async function withPenalty(
  datums: readonly RolloutDatum[],
  policy: Pick<TrainingService, 'forward'>,
  { temperature, ...penalty }: KlPenalty & { readonly temperature: number },
): Promise<{ readonly datums: RolloutDatum[]; readonly policyBase: number }> {
  const own = datums.every(({ logprobs }) => logprobs !== undefined)
    ? null
    : await policy.forward(datums, { temperature });
  const scored = datums.map(({ logprobs, reference, weights }, index) => {
    return { q: logprobs ?? own![index]!, base: reference!, generated: weights };
  });
  const { advantages: added, distance } = klPenalties(scored, penalty);
  const penalised = datums.map((datum, index) => ({
    ...datum,
    advantages: added[index]!.map((value, token) => value + datum.advantages![token]!),
    hasSignal: datum.hasSignal || added[index]!.some((value) => value !== 0),
  }));
  return { datums: penalised, policyBase: distance };
}

/** How datums become optimizer steps. */
export type UpdateOptions = {
  /** The training step, for errors. */
  readonly step: number;
  readonly loss: Loss;
  readonly adam: AdamOptions;
  /** Optimizer steps, each on a part of the datums. Default 1. */
  readonly substeps?: number;
  /** Datums of one forward and backward pass; gradients of several passes accumulate. Default: all. */
  readonly microbatch?: number | null;
  /** Bound of the KL by which one optimizer step may move the policy on its own datums; null for no bound. */
  readonly maxStepKl?: number | null;
  /**
   * Gradient routing: the adapters that each part of the batch trains; only for an update of one optimizer step and
   * one pass.
   */
  readonly passes?: readonly RoutingPass[] | null;
  /** Whether to compute statistics also for datums without signal. */
  readonly measuresAll?: boolean;
  /**
   * Whether everything is submitted before the first result is awaited, as a service over HTTP wants it. A loss that
   * is not finite is then found only after its step. Default false.
   */
  readonly isPipelined?: boolean;
  /** Called with the output of a pass after its gradient has been added. Default: not called. */
  readonly afterPass?: (datums: readonly RolloutDatum[], output: ForwardBackward) => Promise<void>;
};

/** Sums over the optimizer steps. */
export type UpdateStatistics = BatchStatistics & {
  updates: number;
  gradientNorm: number;
  stepKl: number;
  halvings: number;
};

/**
 * A class, because objects copied by spread have hidden classes of their own, which slows down small steps measurably.
 */
class UpdateSums implements UpdateStatistics {
  loss = 0;
  tokens = 0;
  entropy = 0;
  kl1 = 0;
  kl2 = 0;
  pull = 0;
  clippedLow = 0;
  clippedHigh = 0;
  updates = 0;
  gradientNorm = 0;
  stepKl = 0;
  halvings = 0;
}

/**
 * Trains on a batch: forward and backward, and one or more optimizer steps.
 *
 * Datums without signal stay in the batch, as in tinker-cookbook: then Adam also steps on a zero gradient, which lets
 * its momentum run on.
 *
 * @throws UserError when loss or gradient are not finite.
 */
export function update(
  service: TrainingService,
  datums: readonly RolloutDatum[],
  options: UpdateOptions,
): Promise<UpdateStatistics> {
  const { microbatch, substeps = 1 } = options;
  const passes = (part: readonly RolloutDatum[]) => (microbatch == null ? [part] : inGroups(part, microbatch));
  return updateInParts(service, parts(datums, substeps).map(passes), options);
}

/** The datums of each optimizer step, and within it of each forward and backward pass. */
type Substeps = readonly (readonly (readonly RolloutDatum[] | Promise<readonly RolloutDatum[]>)[])[];

/** `update` on a batch that is already cut into parts, some of which may not have arrived yet. */
export async function updateInParts(
  service: TrainingService,
  substeps: Substeps,
  options: UpdateOptions,
): Promise<UpdateStatistics> {
  const sums = new UpdateSums();
  let settled = Promise.resolve();
  for (const minibatches of substeps) {
    const learnt: (readonly RolloutDatum[])[] = [];
    const passes: (BatchStatistics | Promise<BatchStatistics>)[] = [];
    for (const minibatch of minibatches) {
      const datums = minibatch instanceof Promise ? await minibatch : minibatch;
      const pass = accumulate(service, datums, options);
      learnt.push(datums);
      passes.push(options.isPipelined === true ? handleLater(pass) : await pass);
    }
    const step = () => service.optimStep(options.adam, boundOf(learnt, options));
    if (options.isPipelined === true) {
      const taken = handleLater(step());
      settled = handleLater(settled.then(() => settle(sums, passes, () => taken, options)));
    } else await settle(sums, passes, step, options);
  }
  await settled;
  return sums;
}

/** Marks a rejection as handled, since the promise is awaited later. */
export function handleLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** Contiguous parts of nearly equal size: `wanted` of them, or as many as there are items. */
function parts<T>(items: readonly T[], wanted: number): T[][] {
  const count = Math.min(wanted, items.length);
  const edge = (index: number) => Math.floor((index * items.length) / count);
  return Array.from({ length: count }, (_, index) => items.slice(edge(index), edge(index + 1)));
}

/** Adds the gradient of these datums, unless they have no signal. */
async function accumulate(
  service: TrainingService,
  datums: readonly RolloutDatum[],
  { loss, passes = null, measuresAll = false, afterPass }: UpdateOptions,
): Promise<BatchStatistics> {
  const isIdle = !measuresAll && !learnsWithoutSignal(loss) && !datums.some(({ hasSignal }) => hasSignal);
  if (isIdle || datums.length === 0) return emptyStatistics();
  const output = service.forwardBackward(datums, loss, { passes });
  if (afterPass !== undefined) await afterPass(datums, await output);
  return output;
}

function learnsWithoutSignal({ entropyCoefficient = 0, pull = null }: Loss): boolean {
  return entropyCoefficient !== 0 || pull !== null;
}

function boundOf(
  learnt: readonly (readonly RolloutDatum[])[],
  { loss, maxStepKl = null }: UpdateOptions,
): StepBound | null {
  if (maxStepKl === null) return null;
  return { datums: learnt.flat(), temperature: loss.temperature ?? 1, bound: maxStepKl };
}

/** Adds up the results of the passes and of the optimizer step. */
async function settle(
  sums: UpdateSums,
  passes: readonly (BatchStatistics | Promise<BatchStatistics>)[],
  take: () => Promise<StepTaken>,
  { step }: UpdateOptions,
): Promise<void> {
  for (const pass of passes) addStatistics(sums, pass instanceof Promise ? await pass : pass);
  requireFinite(sums.loss, 'the loss', step);
  const { gradientNorm, bounded } = await take();
  requireFinite(gradientNorm ?? 0, 'the norm of the gradient', step);
  sums.updates++;
  sums.gradientNorm += gradientNorm ?? 0;
  sums.stepKl += bounded?.kl ?? 0;
  sums.halvings += bounded?.halvings ?? 0;
}

/** Adam as tinker-cookbook sets it. */
export const cookbookAdam = { beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };

export const schedules = ['linear', 'cosine', 'constant'] as const;
type LrSchedule = (typeof schedules)[number];

/** Multiplier of the learning rate at step s of S: 1 at the first step; `linear` and `cosine` end near 0. */
export function lrMultiplier(schedule: LrSchedule, step: number, steps: number): number {
  if (schedule === 'constant') return 1;
  return schedule === 'linear' ? 1 - step / steps : (1 + Math.cos((Math.PI * step) / steps)) / 2;
}

/** Rises linearly over the first `rise` steps. */
export function riseMultiplier(step: number, rise: number): number {
  return Math.min(1, (step + 1) / Math.max(1, rise));
}

/**
 * The estimates of the KL to the reference, summed over the tokens of the update, nats; k1 is measured before the first
 * step.
 */
export function klSum(
  { statistics, policyBase }: { readonly statistics: UpdateStatistics; readonly policyBase: number },
  estimator: KlEstimator,
): number {
  return estimator === 'k1' ? policyBase * statistics.tokens : statistics.pull;
}
