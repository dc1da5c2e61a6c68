import type { CollapseFlag } from './collapse.js';
import type { Diversity } from './diversity.js';
import { roundedAsPython } from './rounding.js';

/** One log entry that has a reward. */
export type RewardEntry = { readonly step: number; readonly reward: number };

/** The rewards a run logged last, by the measures of the source system. */
export type RewardHistory = {
  /** Of the last five; 4 decimals. */
  readonly finalAverage: number;
  readonly finalMax: number;
  /** All of the last five are at least 0.9. */
  readonly stableAbove09: boolean;
  /** The last ten, in order; 4 decimals. */
  readonly last: readonly RewardEntry[];
};

/** @param entries In the order of steps. @returns null without any. */
export function rewardHistoryOf(entries: readonly RewardEntry[]): RewardHistory | null {
  if (entries.length === 0) return null;
  const rewards = entries.slice(-5).map(({ reward }) => reward);
  const sum = rewards.reduce((total, reward) => total + reward, 0);
  return {
    finalAverage: roundedAsPython(sum / rewards.length, 4),
    finalMax: roundedAsPython(Math.max(...rewards), 4),
    stableAbove09: rewards.every((reward) => reward >= 0.9),
    last: entries.slice(-10).map(({ step, reward }) => ({ step, reward: roundedAsPython(reward, 4) })),
  };
}

export type Verdict = {
  readonly verdict: 'SUCCESS' | 'FAIL';
  /** Why it failed, in words; none after a success. */
  readonly reasons: readonly string[];
  /** What the source system says, which has no eye for collapse onto templates. */
  readonly upstream: 'SUCCESS' | 'FAIL';
};

/** A success is a reward that stays at 0.9 and texts that are not degenerate, by its measures or by ours. */
export function verdictOf(
  history: RewardHistory | null,
  diversity: Diversity,
  collapse: readonly CollapseFlag[],
): Verdict {
  const reasons = [...rewardReasons(history), ...diversityReasons(diversity)];
  const all = [...reasons, ...collapse.map(({ kind, reason }) => `${kind}: ${reason}`)];
  return {
    verdict: all.length === 0 ? 'SUCCESS' : 'FAIL',
    reasons: all,
    upstream: reasons.length === 0 ? 'SUCCESS' : 'FAIL',
  };
}

function rewardReasons(history: RewardHistory | null): string[] {
  if (history === null) return ['no reward was logged'];
  return history.stableAbove09
    ? []
    : [`the reward is not stable at 0.9 (${history.finalAverage} on average at the end)`];
}

function diversityReasons({ degenerate, uniqueSamples, samples, averageJaccard }: Diversity): string[] {
  if (!degenerate) return [];
  return [`the texts are degenerate (${uniqueSamples} of ${samples} are distinct, Jaccard ${averageJaccard})`];
}
