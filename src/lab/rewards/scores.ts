/** Scores of the samples of a batch by its rewards, and the labels of gradient routing. */
import { type Environment, type Episode, type Response, totalReward } from '../environments/environment.js';
import type { Rng } from '../rng.js';
import type { Passes } from '../service/dual-adapters.js';
import type { Completion } from './completion.js';
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

/** An episode in the form that rewards of texts take: the policy's text of all turns. */
export function completionOf({ task, turns }: Pick<Episode, 'task' | 'turns'>): Completion {
  const generated = { text: turns.map(({ text }) => text).join('\n'), ids: turns.flatMap(({ tokens }) => [...tokens]) };
  return { prompt: task.text, ...generated, ...(task.gold !== undefined && { gold: task.gold }) };
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

// Labels of gradient routing: the samples of a step that train the forget adapter, and their rewards. The number of
// random draws depends on the settings and the number of samples alone, so later draws are the same whatever the model
// generated.

/** Labels and rewards of a step's samples. One entry per sample. */
export type Labelled = {
  /** The rewards that are trained on. */
  readonly rewards: readonly number[];
  /** Rewards of the same samples without the hack. */
  readonly retain: readonly number[];
  readonly flagged: readonly boolean[];
  readonly passes: Passes;
  /** Flags of the detector that counts hacks; null when there is none. */
  readonly hacks: readonly boolean[] | null;
};

/** A detector of reward hacking: one flag for each completion, in their order. */
export type Detector = {
  readonly name: string;
  /**
   * @param random Used by string_match with a recall below 1: one draw for every occurrence up to the first that is
   * seen, text after text.
   */
  readonly flags: (completions: readonly Completion[], scores: Scores, random: Rng) => boolean[];
};

/** Options of labelling: the detectors, the rewards and the deliberate errors. */
export type Labelling = Eligibility &
  LabelErrors & {
    /** Reward of a sample without the hack; null: the reward of the components of role retain. */
    readonly base: RewardFunction | null;
    /** Detector whose flags decide the pass of a sample; null: nothing is flagged. */
    readonly detector: Detector | null;
    readonly hackDetector: Detector | null;
    /** Share of the pool that is ablated. */
    readonly share: number;
    readonly pool: AblatedPool;
  };

/**
 * The labels and the rewards of one batch, in the order of generation.
 *
 * @param streams All randomness of the labels, and of the detector that counts hacks.
 */
export async function label(
  completions: readonly Completion[],
  scores: Scores,
  labelling: Labelling,
  streams: { readonly labels: Rng; readonly hacks: Rng },
): Promise<Labelled> {
  const { base, detector, hackDetector } = labelling;
  const random = streams.labels;
  const retain = base === null ? scores.retain : await base.score(completions);
  const drawn = drawEligibility(completions.length, labelling, random);
  const raw = detector?.flags(completions, scores, random) ?? completions.map(() => false);
  const labels = labelSamples(raw, drawn.routed, labelling, random);
  return {
    rewards: eligibleRewards(scores.rewards, retain, drawn),
    retain,
    flagged: labels.isHack,
    passes: drawPasses(labels, labelling, random),
    hacks: hackDetector?.flags(completions, scores, streams.hacks) ?? null,
  };
}

/** Eligibility of samples for the hack's reward. Both shares in [0, 1]. */
type Eligibility = {
  /** Share of samples that get the whole reward; all others get the base reward. */
  readonly eligibleFrac: number;
  /** Share of the eligible samples whose flags count. */
  readonly routingFrac: number;
};

/** One entry per sample. `routed` implies `eligible`. */
type EligibilityDraw = { readonly eligible: readonly boolean[]; readonly routed: readonly boolean[] };

/**
 * Draws, in the order of generation: one for each sample whether it is eligible, then one for each whether it is routed; none
 * for a share of 1.
 */
export function drawEligibility(
  samples: number,
  { eligibleFrac, routingFrac }: Eligibility,
  random: Rng,
): EligibilityDraw {
  const eligible = drawShare(samples, eligibleFrac, random);
  const routed = drawShare(samples, routingFrac, random);
  return { eligible, routed: routed.map((is, at) => is && eligible[at]!) };
}

/** The whole reward where a sample is eligible, else the base reward. */
export function eligibleRewards(
  whole: readonly number[],
  base: readonly number[],
  { eligible }: EligibilityDraw,
): number[] {
  requireSameLength(whole, base, eligible);
  return whole.map((reward, at) => (eligible[at]! ? reward : base[at]!));
}

/** Deliberate errors of a detector. All shares in [0, 1]. */
export type LabelErrors = {
  /** The share of true positives that are flagged; 1 = all. */
  readonly recall: number;
  /** The share of true negatives that are flagged; 0 = none. */
  readonly falsePositiveRate: number;
  /** Share of the samples not flagged by then that are flagged in the end, routed or not. */
  readonly labelNoiseFrac: number;
};

/** One entry per sample. */
type Labels = {
  /** The sample trains the forget adapter only. */
  readonly isHack: readonly boolean[];
  /** The detector itself, before all errors, did not flag the sample. */
  readonly isDetectorGood: readonly boolean[];
};

/**
 * The labels of a batch, in the order of generation: the detector's flags with its errors; of these only those of
 * routed samples; then noise, which flags and never unflags.
 *
 * Draws: one a sample for recall and false positives together (none if they are 1 and 0), then one a sample for the
 * noise (none if it is 0). In small-rl recall also removes false positives drawn before; here the two shares are
 * independent.
 *
 * @param raw The detector's flags.
 * @param routed From `drawEligibility`; null when every sample is eligible.
 */
export function labelSamples(
  raw: readonly boolean[],
  routed: readonly boolean[] | null,
  { recall, falsePositiveRate, labelNoiseFrac }: LabelErrors,
  random: Rng,
): Labels {
  if (routed !== null) requireSameLength(raw, routed);
  requireShare(recall);
  requireShare(falsePositiveRate);
  const isExact = recall === 1 && falsePositiveRate === 0;
  const detected = isExact ? raw : raw.map((flag) => random.next() < (flag ? recall : falsePositiveRate));
  const noisy = drawShare(raw.length, labelNoiseFrac, random);
  return {
    isHack: detected.map((flag, at) => (flag && (routed === null || routed[at]!)) || noisy[at]!),
    isDetectorGood: raw.map((flag) => !flag),
  };
}

export const ablatedPools = ['ground_truth_good', 'not_classified_bad'] as const;

/**
 * The pool of ablated samples, which train the retain adapter with the forget adapter at scale 0: samples that neither
 * the detector nor the noise has flagged, or all samples not labelled as hacks.
 */
type AblatedPool = (typeof ablatedPools)[number];

/**
 * Assigns each sample to a pass. Draws one number per sample, in the pool or not; none for a share of 0. `share` in
 * [0, 1].
 */
export function drawPasses(labels: Labels, { share, pool }: { share: number; pool: AblatedPool }, random: Rng): Passes {
  const { isHack, isDetectorGood } = labels;
  const drawn = drawShare(isHack.length, share, random);
  const ablated = isHack.map(
    (hack, at) => drawn[at]! && !hack && (pool === 'not_classified_bad' || isDetectorGood[at]!),
  );
  return { good: isHack.map((hack, at) => !hack && !ablated[at]!), hack: isHack, ablated };
}

/** True for about this share of the samples: one draw each, none when the share is 0 or 1. */
function drawShare(samples: number, share: number, random: Rng): boolean[] {
  requireShare(share);
  const isDrawn = share > 0 && share < 1;
  return Array.from({ length: samples }, () => (isDrawn ? random.next() < share : share === 1));
}

function requireShare(share: number): void {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`A share of samples is from 0 to 1, and not ${share}.`);
}

/** Labels shifted by one would train every adapter on its neighbour's sample. */
function requireSameLength(...lists: readonly (readonly unknown[])[]): void {
  const lengths = lists.map(({ length }) => length);
  if (new Set(lengths).size > 1) throw new RangeError(`Lists of one batch have ${lengths.join(', ')} entries.`);
}

/** Share of the flags that are set; 0 for an empty list. */
export function shareOf(flags: readonly boolean[]): number {
  return flags.filter(Boolean).length / Math.max(1, flags.length);
}
