import { advantages, type Credit, type Scale } from '../credit.js';
import type { Engine } from '../engine/engine.js';
import type { Environment } from '../environment.js';
import { tokenWeights, type Normalization } from '../objectives/normalization.js';
import type { Objective } from '../objectives/objective.js';
import { klPenalties } from '../objectives/kl-penalty.js';
import { k3 } from '../objectives/reference.js';
import { asPromptGroup, type BoundedStep, boundedStep } from './bounded-step.js';
import { inGroups } from '../probes/test-rollouts.js';
import { play, type Episode } from '../rollout.js';
import type { Rng } from '../rng.js';

/** How a batch of episodes becomes one update. */
export type Update = {
  readonly objective: Objective;
  readonly credit: Credit;
  readonly scale: Scale;
  readonly normalization: Normalization;
  /** The pull of each token towards a model that stays as it is; null for none. */
  readonly reference: Reference | null;
  /** What being unlikely to such a model costs a token's advantage; null for nothing. */
  readonly penalty: Penalty | null;
  readonly entropyCoefficient: number;
  readonly skipConstantGroups: boolean;
  readonly learningRate: number;
  /** Softmax temperature of the policy that plays and is trained. */
  readonly temperature: number;
  /** The furthest that one update may move the policy on the episodes it is made from; null for no bound. */
  readonly maxStepKl: number | null;
  /** Optimizer steps per batch, each on a part of its episodes. */
  readonly substeps: number;
};

/** `engine`: of the reference model; its weights never change. `coefficient`: of the pull, above 0. */
export type Reference = { readonly engine: Engine; readonly coefficient: number };

/** `discount`: of the penalties of later tokens, 0 for a token's own alone. */
type Penalty = Reference & { readonly discount: number };

export type Batch = {
  readonly groups: number;
  readonly groupSize: number;
  readonly maxTokens: number;
  readonly temperature: number;
};

/**
 * What the updates of a training step did: sums over them. `kl…`: sums over `tokens` of sampling minus learner log-probability, and of half its square; `klReference`:
 * sum of k3 to the reference. `step`: how far they went, where that is bounded. `policyBase`: mean over the tokens, before all of them,
 * of how much likelier they were than to the model of the penalty.
 */
type Updated = {
  updates: number;
  gradientNorm: number;
  step: BoundedStep | null;
  policyBase: number;
  tokens: number;
  kl1: number;
  kl2: number;
  klReference: number;
};

/** An episode to train on: the advantage of each token, the weight of its tokens, and whether anything in its group differed. */
type Trained = {
  readonly episode: Episode;
  readonly advantages: ArrayLike<number>;
  readonly weight: number;
  readonly hasSignal: boolean;
};

/** Adam as the source system sets it. */
export const adam = { beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };

/** Plays one batch: groups of episodes of the same environment. */
export async function playBatch(
  engine: Engine,
  environment: Environment,
  batch: Batch,
  random: Rng,
): Promise<Episode[][]> {
  const manner = {
    episodes: batch.groups * batch.groupSize,
    maxTokens: batch.maxTokens,
    temperature: batch.temperature,
  };
  return inGroups(await play(engine, environment, manner, random), batch.groupSize);
}

/**
 * The policy-gradient updates on a batch of episodes just played.
 *
 * The loss is the weighted sum over the tokens the model said of the objective, plus the pull to the reference, less the
 * entropy bonus. A group whose episodes all earned the same carries no signal. By default it stays in the batch, as in the
 * source system: then Adam also steps on a zero gradient, which lets its momentum run on.
 *
 * @returns null when there was nothing to train on and the weights are as they were.
 */
export async function update(
  engine: Engine,
  environment: Environment,
  batch: readonly (readonly Episode[])[],
  how: Update,
): Promise<Updated | null> {
  const prepared = prepare(batch, how);
  const trained = how.skipConstantGroups ? prepared.filter(({ hasSignal }) => hasSignal) : prepared;
  if (trained.length === 0) return null;
  const { penalised, policyBase } = await withPenalty(engine, environment, trained, how);
  const sums: Updated = { updates: 0, gradientNorm: 0, step: null, policyBase, ...nothing };
  for (const part of parts(penalised, how.substeps)) add(sums, await substep(engine, environment, part, how));
  return sums;
}

/** The whole batch is penalised before the first step on a part of it. */
async function withPenalty(
  engine: Engine,
  environment: Environment,
  trained: readonly Trained[],
  { penalty, temperature }: Update,
): Promise<{ penalised: readonly Trained[]; policyBase: number }> {
  if (penalty === null) return { penalised: trained, policyBase: 0 };
  const episodes = trained.map(({ episode }) => episode);
  const batch = asPromptGroup(environment, episodes);
  const base = (await penalty.engine.forward(batch, { temperature })).logprobs;
  const own = temperature === 1 ? null : (await engine.forward(batch, { temperature })).logprobs;
  let at = 0;
  const scored = episodes.map(({ logprobs, turns }) => {
    const [from, to] = [at, (at += turns.length)];
    const said = turns.map((turn) => turn >= 0);
    return { q: own?.subarray(from, to) ?? logprobs, base: base.subarray(from, to), said };
  });
  const { advantages: added, distance } = klPenalties(scored, penalty);
  const penalised = trained.map((each, index) => ({
    ...each,
    advantages: Float64Array.from(each.advantages, (advantage, token) => advantage + added[index]![token]!),
    hasSignal: each.hasSignal || added[index]!.some((value) => value !== 0),
  }));
  return { penalised, policyBase: distance };
}

/** Contiguous parts of nearly equal size, as many as asked for or as there are episodes. */
function parts(trained: readonly Trained[], wanted: number): Trained[][] {
  const count = Math.min(wanted, trained.length);
  const edge = (index: number) => Math.floor((index * trained.length) / count);
  return Array.from({ length: count }, (_, index) => trained.slice(edge(index), edge(index + 1)));
}

async function substep(
  engine: Engine,
  environment: Environment,
  trained: readonly Trained[],
  how: Update,
): Promise<Updated> {
  const silent = how.entropyCoefficient === 0 && how.reference === null && !trained.some(({ hasSignal }) => hasSignal);
  const tokens = silent ? { ...nothing } : await differentiate(engine, environment, trained, how);
  const adamStep = () => engine.adam({ ...adam, learningRate: how.learningRate });
  if (how.maxStepKl === null)
    return { updates: 1, gradientNorm: await adamStep(), step: null, policyBase: 0, ...tokens };
  const episodes = trained.map(({ episode }) => episode);
  const bound = { environment, episodes, temperature: how.temperature, bound: how.maxStepKl };
  return { updates: 1, ...(await boundedStep(engine, bound, adamStep)), policyBase: 0, ...tokens };
}

function add(sums: Updated, { step, ...more }: Updated): void {
  for (const [name, value] of Object.entries(more)) sums[name as keyof typeof more] += value;
  if (step !== null) {
    sums.step = { kl: (sums.step?.kl ?? 0) + step.kl, halvings: (sums.step?.halvings ?? 0) + step.halvings };
  }
}

const nothing = { tokens: 0, kl1: 0, kl2: 0, klReference: 0 };

/** Groups that are left out of an update count all the same in what its losses are divided by. */
function prepare(played: readonly (readonly Episode[])[], how: Update): Trained[] {
  const said = (episode: Episode): number => episode.turns.filter((turn) => turn >= 0).length;
  const weights = tokenWeights(
    played.map((episodes) => episodes.map(said)),
    how.normalization,
  );
  return played.flatMap((episodes, group) => {
    const rewards = episodes.map((episode) => episode.rewards);
    const credited = advantages(rewards, how.credit, how.scale);
    const hasSignal = credited.some((turns) => turns.some((advantage) => advantage !== 0));
    return episodes.map((episode, index) => ({
      episode,
      advantages: episode.turns.map((turn) => (turn < 0 ? 0 : credited[index]![turn]!)),
      weight: weights[group]![index]!,
      hasSignal,
    }));
  });
}

/** Forward and backward over all continuations; the prompt is computed once. */
async function differentiate(
  engine: Engine,
  environment: Environment,
  trained: readonly Trained[],
  how: Update,
): Promise<typeof nothing> {
  const batch = asPromptGroup(
    environment,
    trained.map(({ episode }) => episode),
  );
  const { logprobs } = await engine.forward(batch, { temperature: how.temperature });
  const reference =
    how.reference === null
      ? null
      : (await how.reference.engine.forward(batch, { temperature: how.temperature })).logprobs;
  const dLogprob = new Float32Array(logprobs.length);
  const dEntropy = how.entropyCoefficient === 0 ? null : new Float32Array(logprobs.length);
  const sums = { ...nothing };
  let at = 0;
  trained.forEach(({ episode, advantages: credit, weight }) => {
    for (let token = 0; token < episode.tokens.length; token++, at++) {
      if (episode.turns[token]! < 0) continue;
      // What a decoder tells is of temperature 1. At another, the sampler was this very policy: the ratio is 1.
      const q = how.temperature === 1 ? episode.logprobs[token]! : logprobs[at]!;
      const difference = q - logprobs[at]!;
      let slope = how.objective.slope(logprobs[at]!, q, credit[token]!);
      if (reference !== null) {
        slope += how.reference!.coefficient * k3.slope(logprobs[at]!, reference[at]!);
        sums.klReference += k3.loss(logprobs[at]!, reference[at]!);
      }
      dLogprob[at] = weight * slope;
      if (dEntropy !== null) dEntropy[at] = -how.entropyCoefficient * weight;
      sums.tokens++;
      sums.kl1 += difference;
      sums.kl2 += difference ** 2 / 2;
    }
  });
  await engine.backward(dLogprob, dEntropy);
  return sums;
}
