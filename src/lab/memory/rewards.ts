import { signalBits } from './secret.js';

export const rewardTypes = ['binary', 'log_distance', 'binned_log_distance'] as const;
export type RewardType = (typeof rewardTypes)[number];

/** How a guess is paid. `bins` at least 2. */
export type RewardRule =
  | { readonly type: 'binary' }
  | { readonly type: 'log_distance' }
  | { readonly type: 'binned_log_distance'; readonly bins: number };

export type Judgement = { readonly reward: number; readonly correct: boolean; readonly distance: number };

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
  const closeness = Math.max(0, 1 - Math.log2(distance + 1) / signalBits(N));
  if (rule.type === 'log_distance') return closeness;
  const top = rule.bins - 1;
  return roundHalfEven(closeness * top) / top;
}

/** Python's `round`: ties go to the even neighbour. At N=64 with 4 bins, distance 1 is such a tie (2.5 → 2). */
export function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const part = value - below;
  if (part !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}
