import { totalReward, type Environment, type Episode, type Response } from '../environments/environment.js';
import { completionOf, type Completion } from './completion.js';
import type { RewardFunction } from './registry.js';

/** What a component stands for: the task (kept), or the hack that the forget adapter is to take up. */
export type Role = 'retain' | 'forget';

/** One reward of several. `id`: its name in metrics, unlike all others'. `scale`: of its score in the sum. */
export type Component = {
  readonly id: string;
  readonly role: Role;
  readonly scale: number;
  readonly reward: RewardFunction;
};

/** `scores`: as the component gave them, neither scaled nor normalized; one for each completion. */
type ComponentScores = Pick<Component, 'id' | 'role' | 'scale'> & { readonly scores: readonly number[] };

/** A batch's scores. Every list has one number for each completion, in their order. */
export type Scores = {
  /** What is trained on. */
  readonly rewards: readonly number[];
  /** The same from the components of role retain alone, 0 without any: the pay of a sample that cannot earn by the hack. */
  readonly retain: readonly number[];
  /** As `rewards` without normalization: what can be compared between steps. */
  readonly plain: readonly number[];
  readonly components: readonly ComponentScores[];
  /** Completions of one prompt; they follow each other. */
  readonly groupSize: number;
};

/** How components become one reward. `maxReward`: the most it can be, or null; not together with `normalize`. */
export type Combination = {
  readonly maxReward: number | null;
  readonly normalize: boolean;
};

export type CombinedReward = {
  /** The components' ids, joined by `+`. */
  readonly name: string;
  readonly components: readonly Component[];
  readonly combination: Combination;
  /** @param groupSize Completions of one prompt, which follow each other; the whole batch is a multiple of it. */
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

/** The same from scores that are there already. @throws Error when the batch is not made of whole groups. */
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

/** Rewards of episodes that were played, by component. */
type Scoring = {
  readonly name: string;
  /** @param groups All equally large. */
  readonly scoresOf: (groups: readonly (readonly Episode[])[]) => Scores;
};

/** An environment whose episodes earn this reward, in the place of its own. */
export type RewardedEnvironment = { readonly environment: Environment; readonly scoring: Scoring };

/** The environment with a reward of texts in the place of its own: a whole batch is scored at once. */
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

/** The rewards that an environment gives by itself: their total, and their named parts beside it. */
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

/** As in the advantages of GRPO: it keeps a group whose scores hardly differ from being blown up. */
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
