import { advantages } from '../credit.js';
import { inGroups } from '../probes/test-rollouts.js';

/** What is done with flagged completions where nothing is routed; by small-rl's names. */
export const baselines = ['filter', 'reward_penalty', 'retain_penalty'] as const;
export type Baseline = (typeof baselines)[number];

/** One entry a completion; `groupSize` neighbours belong to one prompt. */
type Paid = {
  readonly rewards: readonly number[];
  /** What the components of role retain pay. */
  readonly retain: readonly number[];
  readonly flagged: readonly boolean[];
  readonly groupSize: number;
};

/**
 * Advantages in each group: rewards less their mean, over their deviation (n − 1) + 1e-4, as in TRL.
 *
 * With a baseline, flagged completions are paid less before that, or teach nothing after it; what the others are compared with
 * changes accordingly.
 */
export function advantagesOf({ rewards, retain, flagged, groupSize }: Paid, baseline: Baseline | null): number[] {
  const paid = rewards.map((reward, index) => {
    if (!flagged[index]!) return reward;
    if (baseline === 'reward_penalty') return 0;
    return baseline === 'retain_penalty' ? retain[index]! : reward;
  });
  const compared = inGroups(paid, groupSize).flatMap((group) =>
    advantages(
      group.map((reward) => [reward]),
      'trajectory',
      'std',
    ).map(([advantage]) => advantage!),
  );
  return compared.map((advantage, index) => (baseline === 'filter' && flagged[index]! ? 0 : advantage));
}
