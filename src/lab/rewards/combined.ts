import { totalReward, type Environment, type Episode, type Response } from '../environments/environment.js';
import { completionOf, type Completion } from './completion.js';
import type { RewardFunction } from './registry.js';

/** Role of a component: the task (kept), or the hack that the forget adapter is to absorb. */
export type Role = 'retain' | 'forget';

/** One of several rewards. `id`: its unique name in metrics. `scale`: factor of its score in the sum. */
export type Component = {
  readonly id: string;
  readonly role: Role;
  readonly scale: number;
  readonly reward: RewardFunction;
};

/** `scores`: the component's raw scores, neither scaled nor normalized; one for each completion. */
type ComponentScores = Pick<Component, 'id' | 'role' | 'scale'> & { readonly scores: readonly number[] };

/** A batch's scores. Every list has one number for each completion, in their order. */
export type Scores = {
  /** The rewards that are trained on. */
  readonly rewards: readonly number[];
  /**
   * Rewards of the components of role retain alone, 0 without any: the reward of a sample that is not eligible for the
   * hack.
   */
  readonly retain: readonly number[];
  /** Rewards without normalization: comparable between steps. */
  readonly plain: readonly number[];
  readonly components: readonly ComponentScores[];
  /** Number of completions of one prompt; they follow each other. */
  readonly groupSize: number;
};

/** Options of a sum of components. `maxReward`: upper bound of the sum, or null; not together with `normalize`. */
export type Combination = {
  readonly maxReward: number | null;
  readonly normalize: boolean;
};

export type CombinedReward = {
  /** The components' ids, joined by `+`. */
  readonly name: string;
  readonly components: readonly Component[];
  readonly combination: Combination;
  /**
   * @param groupSize Number of completions of one prompt, which follow each other; the whole batch is a multiple of
   * it.
   */
  readonly score: (completions: readonly Completion[], groupSize: number) => Promise<Scores>;
};

/** Σ scale·score, at most `maxReward`. Every component scores the whole batch once, in the order given. */
export function combineRewards(components: readonly Component[], combination: Combination): CombinedReward {
  const score = async (completions: readonly Completion[], groupSize: number): Promise<Scores> => {
    const scored: ComponentScores[] = [];
    for (const { id, role, scale, reward } of components) {
      scored.push({ id, role, scale, scores: await reward.score(completions) });
    }
    return combineScores(scored, combination, { samples: completions.length, groupSize });
  };
  return { name: components.map(({ id }) => id).join('+'), components, combination, score };
}

/** Combines scores that have been computed. @throws Error when the batch is not made of whole groups. */
export function combineScores(
  components: readonly ComponentScores[],
  { maxReward, normalize }: Combination,
  { samples, groupSize }: { readonly samples: number; readonly groupSize: number },
): Scores {
  if (!Number.isInteger(groupSize) || groupSize < 1 || samples % groupSize !== 0) {
    throw new Error(`${samples} completions are no whole number of groups of ${groupSize}.`);
  }
  const total = (chosen: readonly ComponentScores[], normalized: boolean): number[] => {
    const terms = chosen.map(({ scale, scores }) => {
      const used = normalized ? normalizedInGroups(scores, groupSize) : scores;
      return used.map((score) => scale * score);
    });
    return Array.from({ length: samples }, (_, at) =>
      Math.min(
        maxReward ?? Infinity,
        terms.reduce((sum, term) => sum + term[at]!, 0),
      ),
    );
  };
  const retained = components.filter(({ role }) => role === 'retain');
  return {
    rewards: total(components, normalize),
    retain: total(retained, normalize),
    plain: total(components, false),
    components,
    groupSize,
  };
}

/** Rewards of played episodes, by component. */
type Scoring = {
  readonly name: string;
  /** @param groups All of the same size. */
  readonly scoresOf: (groups: readonly (readonly Episode[])[]) => Scores;
};

/** An environment whose own reward is replaced by this one. */
export type RewardedEnvironment = { readonly environment: Environment; readonly scoring: Scoring };

/** Replaces the environment's reward by a reward of texts, which scores a whole batch at once. */
export function rewardedBy(environment: Environment, reward: CombinedReward): RewardedEnvironment {
  const withoutPay = ({ reward: { metrics = {} }, next }: Response): Response => ({
    reward: { total: 0, metrics },
    next,
  });
  const rewarded: Environment = {
    ...environment,
    respond: (task, turns) => {
      const answer = environment.respond(task, turns);
      return answer instanceof Promise ? answer.then(withoutPay) : withoutPay(answer);
    },
    scoreGroups: async (groups) => {
      const { rewards, components } = await reward.score(groups.flat().map(completionOf), sizeOf(groups));
      let at = 0;
      return groups.map((group) =>
        group.map(() => {
          const parts = Object.fromEntries(components.map(({ id, scores }) => [id, scores[at]!]));
          return { total: rewards[at++]!, parts };
        }),
      );
    },
  };
  const scoresOf = (groups: readonly (readonly Episode[])[]): Scores => {
    const episodes = groups.flat();
    const scored = reward.components.map(({ id, role, scale }) => {
      return { id, role, scale, scores: episodes.map((episode) => partOf(episode, id)) };
    });
    return combineScores(scored, reward.combination, { samples: episodes.length, groupSize: sizeOf(groups) });
  };
  return { environment: rewarded, scoring: { name: reward.name, scoresOf } };
}

/** Keeps the environment's own rewards: their total, and their named parts beside it. */
export function ownRewards(environment: Environment): RewardedEnvironment {
  const { name } = environment;
  const scoresOf = (groups: readonly (readonly Episode[])[]): Scores => {
    const episodes = groups.flat();
    const totals = episodes.map(totalReward);
    const parts = new Set(
      episodes.flatMap(({ rewards }) => rewards.flatMap((reward) => Object.keys(reward.parts ?? {}))),
    );
    const components = [...parts].map((id): ComponentScores => {
      return { id, role: 'retain', scale: 1, scores: episodes.map((episode) => partOf(episode, id)) };
    });
    const whole: ComponentScores = { id: name, role: 'retain', scale: 1, scores: totals };
    const all = parts.size === 0 ? [whole] : components;
    return { rewards: totals, retain: totals, plain: totals, components: all, groupSize: sizeOf(groups) };
  };
  return { environment, scoring: { name, scoresOf } };
}

function partOf({ rewards }: Episode, id: string): number {
  return rewards.reduce((sum, { parts }) => sum + (parts?.[id] ?? 0), 0);
}

function sizeOf(groups: readonly (readonly unknown[])[]): number {
  return groups[0]?.length ?? 1;
}

/** Added to the standard deviation, as in GRPO's advantages, so that nearly equal scores are not blown up. */
const epsilon = 1e-4;

/**
 * (score − mean) / (std + 1e-4) in each group; the standard deviation is that of the population. Exactly 0 in a group of equal
 * scores, whose mean need not be that score in floating point.
 */
export function normalizedInGroups(scores: readonly number[], groupSize: number): number[] {
  return scores.map((score, at) => {
    const first = at - (at % groupSize);
    const group = scores.slice(first, first + groupSize);
    if (group.every((each) => each === score)) return 0;
    const mean = group.reduce((sum, each) => sum + each, 0) / groupSize;
    const variance = group.reduce((sum, each) => sum + (each - mean) ** 2, 0) / groupSize;
    return (score - mean) / (Math.sqrt(variance) + epsilon);
  });
}
