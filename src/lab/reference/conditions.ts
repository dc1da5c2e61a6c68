import type { Condition } from '../environments/memory/task.js';
import { conditionOfRule, rewardRule, type RewardType } from '../environments/memory/rewards.js';
import type { ValueType } from '../config/value-type.js';
import { advantageEstimators, type AdvantageEstimator } from '../advantages/advantages.js';

/** A condition with a known credit. */
export type LabCondition =
  | Exclude<Condition, { kind: 'dense' }>
  | { readonly kind: 'dense'; readonly credit: AdvantageEstimator };

/** The conditions of memory-rl's sweep, and two more: the distance itself, and multi-step rewards as one sum. */
export const usualConditions = 'sft,binary,B4,B8,B16,B32,log,stepwise,trajectory'.split(',');

/** Names separated by commas. */
export const conditionNames: ValueType<readonly string[]> = {
  name: `sft,binary,B<levels>,log,${advantageEstimators.join(',')}`,
  read: (text) => {
    const names = text.split(',').map((name) => name.trim());
    return names.every((name) => conditionNamed(name) !== null) ? names : undefined;
  },
};

/**
 * The condition of a name: `sft`, `binary`, `B2` and so on, `log`, or a credit of the multi-step environment; null for
 * any other name.
 */
export function conditionNamed(name: string): LabCondition | null {
  if (name === 'sft' || name === 'binary') return { kind: name };
  if (name === 'log') return { kind: 'log-distance' };
  const credit = advantageEstimators.find((known) => known === name);
  if (credit !== undefined) return { kind: 'dense', credit };
  const bins = Number(/^B([0-9]+)$/.exec(name)?.[1] ?? 0);
  return bins >= 2 ? { kind: 'binned', bins } : null;
}

/** The keys of `memrl train` that set the channel from the secret to the learner. */
type TrainSettings = {
  readonly env_type: 'single_step' | 'multi_step';
  readonly reward_type: RewardType;
  readonly reward_bins: number | null;
  readonly advantages: AdvantageEstimator;
};

/** @throws UserError when the number of bins does not fit the reward. */
export function conditionOf(settings: TrainSettings): LabCondition {
  if (settings.env_type === 'multi_step') return { kind: 'dense', credit: settings.advantages };
  return conditionOfRule(rewardRule(settings));
}
