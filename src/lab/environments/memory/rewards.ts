import { ceilingOf } from './ceiling.js';
import { bitLength, closeness, rewardLevel, signalBits } from './rules.js';
import type { Condition } from './task.js';
import { UserError } from '../../../base/user-error.js';
import type { AdvantageEstimator } from '../../advantages/advantages.js';

export const rewardTypes = ['binary', 'log_distance', 'binned_log_distance'] as const;
export type RewardType = (typeof rewardTypes)[number];

/** Rule of a guess's reward. `bins`: at least 2. */
export type RewardRule =
  | { readonly type: 'binary' }
  | { readonly type: 'log_distance' }
  | { readonly type: 'binned_log_distance'; readonly bins: number };

/** The rule that the keys set. @throws UserError when the number of bins does not fit its type. */
export function rewardRule(config: {
  readonly reward_type: RewardType;
  readonly reward_bins: number | null;
}): RewardRule {
  const { reward_type: type, reward_bins: bins } = config;
  if (type !== 'binned_log_distance') return { type };
  if (bins === null || bins < 2) {
    throw new UserError(
      `reward_type=binned_log_distance needs at least 2 bins, and reward_bins is ${bins ?? 'None'}.`,
      'Set reward_bins, for example reward_bins=8.',
    );
  }
  return { type, bins };
}

type GuessScore = { readonly reward: number; readonly correct: boolean; readonly distance: number };

/**
 * The reward of a guess, in [0, 1].
 *
 * @param guess null when the response contains none; it counts as the largest distance, and its reward is 0.
 */
export function scoreGuess(guess: number | null, secret: number, N: number, rule: RewardRule): GuessScore {
  const distance = guess === null ? N - 1 : Math.abs(guess - secret);
  const correct = guess === secret;
  return { reward: guess === null ? 0 : reward(distance, N, rule), correct, distance };
}

function reward(distance: number, N: number, rule: RewardRule): number {
  if (rule.type === 'binary') return distance === 0 ? 1 : 0;
  if (rule.type === 'log_distance') return closeness(distance, N);
  return rewardLevel(distance, N, rule.bins) / (rule.bins - 1);
}

/** Constants to draw beside the curves; NaN where memory-rl has none (a continuous reward). */
type Theory = {
  readonly 'theory/signal_bits': number;
  readonly 'theory/channel_bits_per_episode': number;
};

export function singleStepTheory(N: number, rule: RewardRule): Theory {
  return { 'theory/signal_bits': signalBits(N), 'theory/channel_bits_per_episode': channelBits(rule, N) };
}

/**
 * memory-rl takes the capacity of the multi-step channel as k bits. That holds if each bit gets its own credit; a
 * learner that sees only the sum of the k rewards can get log2(k + 1) bits of them.
 */
export function multiStepTheory(
  N: number,
  credit: AdvantageEstimator,
): Theory & { 'theory/credit_bits_per_episode': number } {
  const k = bitLength(N);
  return {
    'theory/signal_bits': signalBits(N),
    'theory/channel_bits_per_episode': k,
    'theory/credit_bits_per_episode': ceilingOf({ kind: 'dense', credit }, N).bits,
  };
}

function channelBits(rule: RewardRule, N: number): number {
  return rule.type === 'log_distance' ? Number.NaN : ceilingOf(conditionOfRule(rule), N).bits;
}

/** The condition of a reference learner with this rule. */
export function conditionOfRule(rule: RewardRule): Exclude<Condition, { kind: 'dense' | 'sft' }> {
  if (rule.type === 'log_distance') return { kind: 'log-distance' };
  return rule.type === 'binary' ? { kind: 'binary' } : { kind: 'binned', bins: rule.bins };
}
