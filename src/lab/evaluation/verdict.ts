import type { Diversity } from './diversity.js';
import { roundedAsPython } from './rounding.js';

/** A log entry with a reward. */
export type RewardEntry = { readonly step: number; readonly reward: number };

/** The last rewards that a run logged, by small-rl's measures. */
export type RewardHistory = {
  /** Mean of the last five rewards; 4 decimals. */
  readonly finalAverage: number;
  readonly finalMax: number;
  /** Whether all of the last five rewards are at least 0.9. */
  readonly stableAbove09: boolean;
  /** The last ten rewards, in order; 4 decimals. */
  readonly last: readonly RewardEntry[];
};

/** @param entries In the order of steps. @returns null when there are none. */
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

/** A sign that the texts are bad: `template`, `drift`. `reason`: the measure and its limit in words. */
type Finding = { readonly kind: string; readonly reason: string };

type Verdict = {
  /** `UNDECIDED`: there is no sign of failure, but the text could not be compared with a base. */
  readonly verdict: 'SUCCESS' | 'FAIL' | 'UNDECIDED';
  /** Reasons against a success, in words; empty for a success. */
  readonly reasons: readonly string[];
  /** The verdict by small-rl's rule, which sees neither collapse onto templates nor drift. */
  readonly upstream: 'SUCCESS' | 'FAIL';
};

/**
 * A success is a reward that stays at 0.9 and texts that are not degenerate, have not collapsed and have not drifted.
 *
 * @param findings Signs of collapse and of drift.
 * @param unmeasured Why drift could not be measured, in words; null: it was.
 */
export function verdictOf(
  history: RewardHistory | null,
  diversity: Diversity,
  findings: readonly Finding[],
  unmeasured: string | null,
): Verdict {
  const upstreams = [...rewardReasons(history), ...diversityReasons(diversity)];
  const upstream = upstreams.length === 0 ? 'SUCCESS' : 'FAIL';
  const against = [...upstreams, ...findings.map(({ kind, reason }) => `${kind}: ${reason}`)];
  if (against.length > 0) return { verdict: 'FAIL', reasons: against, upstream };
  if (unmeasured === null) return { verdict: 'SUCCESS', reasons: [], upstream };
  return { verdict: 'UNDECIDED', reasons: [`drift was not measured: ${unmeasured}`], upstream };
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
