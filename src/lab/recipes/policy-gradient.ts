import { advantages, type Credit, type Scale } from '../credit.js';
import type { Engine } from '../engine/engine.js';
import type { Environment } from '../environment.js';
import { tokenWeights, type Normalization } from '../objectives/normalization.js';
import type { Objective } from '../objectives/objective.js';
import { k3 } from '../objectives/reference.js';
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
  readonly entropyCoefficient: number;
  readonly skipConstantGroups: boolean;
  readonly learningRate: number;
};

/** `engine`: of the reference model; its weights never change. `coefficient`: of the pull, above 0. */
export type Reference = { readonly engine: Engine; readonly coefficient: number };

export type Batch = { readonly groups: number; readonly groupSize: number; readonly maxTokens: number };

/** What an update did. `kl…`: sums over `tokens` of sampling minus learner log-probability, and of half its square; `klReference`: sum of k3 to the reference. */
type Updated = {
  readonly gradientNorm: number;
  readonly tokens: number;
  readonly kl1: number;
  readonly kl2: number;
  readonly klReference: number;
};

/** One training group: its episodes, the advantage of each turn of each, and the weight of each one's tokens. */
type Group = {
  readonly episodes: readonly Episode[];
  readonly advantages: readonly (readonly number[])[];
  readonly weights: readonly number[];
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
  const manner = { episodes: batch.groups * batch.groupSize, maxTokens: batch.maxTokens, temperature: 1 };
  return inGroups(await play(engine, environment, manner, random), batch.groupSize);
}

/**
 * One policy-gradient update on episodes just played.
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
  played: readonly (readonly Episode[])[],
  how: Update,
): Promise<Updated | null> {
  const groups = prepared(played, how);
  const trained = how.skipConstantGroups ? groups.filter(differs) : groups;
  if (trained.length === 0) return null;
  const silent = how.entropyCoefficient === 0 && how.reference === null && !trained.some(differs);
  const tokens = silent ? { ...nothing } : await differentiate(engine, environment, trained, how);
  const gradientNorm = await engine.adam({ ...adam, learningRate: how.learningRate });
  return { gradientNorm, ...tokens };
}

const nothing = { tokens: 0, kl1: 0, kl2: 0, klReference: 0 };

/** Groups that are left out of an update count all the same in what its losses are divided by. */
function prepared(played: readonly (readonly Episode[])[], how: Update): Group[] {
  const said = (episode: Episode): number => episode.turns.filter((turn) => turn >= 0).length;
  const weights = tokenWeights(
    played.map((episodes) => episodes.map(said)),
    how.normalization,
  );
  return played.map((episodes, group) => ({
    episodes,
    advantages: advantages(
      episodes.map(({ rewards }) => rewards),
      how.credit,
      how.scale,
    ),
    weights: weights[group]!,
  }));
}

function differs(group: Group): boolean {
  return group.advantages.some((turns) => turns.some((advantage) => advantage !== 0));
}

/** Forward and backward over all continuations; the prompt is computed once. */
async function differentiate(
  engine: Engine,
  environment: Environment,
  groups: readonly Group[],
  how: Update,
): Promise<Omit<Updated, 'gradientNorm'>> {
  const episodes = groups.flatMap((group) => group.episodes);
  const turnAdvantages = groups.flatMap((group) => group.advantages);
  const weights = groups.flatMap((group) => group.weights);
  const batch = [{ prompt: environment.prompt, continuations: episodes.map(({ tokens }) => Int32Array.from(tokens)) }];
  const { logprobs } = await engine.forward(batch);
  const reference = how.reference === null ? null : (await how.reference.engine.forward(batch)).logprobs;
  const dLogprob = new Float32Array(logprobs.length);
  const dEntropy = how.entropyCoefficient === 0 ? null : new Float32Array(logprobs.length);
  const sums = { ...nothing };
  let at = 0;
  episodes.forEach((episode, index) => {
    for (let token = 0; token < episode.tokens.length; token++, at++) {
      const turn = episode.turns[token]!;
      if (turn < 0) continue;
      const q = episode.logprobs[token]!;
      const difference = q - logprobs[at]!;
      let slope = how.objective.slope(logprobs[at]!, q, turnAdvantages[index]![turn]!);
      if (reference !== null) {
        slope += how.reference!.coefficient * k3.slope(logprobs[at]!, reference[at]!);
        sums.klReference += k3.loss(logprobs[at]!, reference[at]!);
      }
      dLogprob[at] = weights[index]! * slope;
      if (dEntropy !== null) dEntropy[at] = -how.entropyCoefficient * weights[index]!;
      sums.tokens++;
      sums.kl1 += difference;
      sums.kl2 += difference ** 2 / 2;
    }
  });
  await engine.backward(dLogprob, dEntropy);
  return sums;
}
