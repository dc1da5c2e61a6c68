import { closeness, rewardLevel } from '../../analysis/memory-rules.js';

export const rewardTypes = ['binary', 'log_distance', 'binned_log_distance'] as const;
export type RewardType = (typeof rewardTypes)[number];

/** How a guess is paid. `bins` at least 2. */
export type RewardRule =
  | { readonly type: 'binary' }
  | { readonly type: 'log_distance' }
  | { readonly type: 'binned_log_distance'; readonly bins: number };

type Judgement = { readonly reward: number; readonly correct: boolean; readonly distance: number };

/**
 * What a guess earns: in [0, 1].
 *
 * @param guess null when the response holds none; it counts as the largest distance, and earns nothing.
 */
export function judgeGuess(guess: number | null, secret: number, N: number, rule: RewardRule): Judgement {
  const distance = guess === null ? N - 1 : Math.abs(guess - secret);
  const correct = guess === secret;
  return { reward: guess === null ? 0 : reward(distance, N, rule), correct, distance };
}

function reward(distance: number, N: number, rule: RewardRule): number {
  if (rule.type === 'binary') return distance === 0 ? 1 : 0;
  if (rule.type === 'log_distance') return closeness(distance, N);
  return rewardLevel(distance, N, rule.bins) / (rule.bins - 1);
}
