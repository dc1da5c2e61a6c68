import { deviation, mean } from '../../analysis/statistics.js';
import { inGroups } from '../probes/test-rollouts.js';
import type { Row } from '../run/metrics-file.js';

/** Rewards and lengths of a batch; `groupSize` neighbours belong to one prompt. */
type Measured = {
  readonly rewards: readonly number[];
  readonly groupSize: number;
  /** Tokens of each completion, its end included, and whether it was ended. */
  readonly lengths: readonly number[];
  readonly ended: readonly boolean[];
};

/** What TRL reports of a batch of completions, under its names. */
export function batchMetrics({ rewards, groupSize, lengths, ended }: Measured): Row {
  const terminated = lengths.filter((_, index) => ended[index]);
  return {
    reward: mean(rewards),
    reward_std: deviation(rewards),
    frac_reward_zero_std: constantGroups(rewards, groupSize),
    'completions/mean_length': mean(lengths),
    'completions/min_length': Math.min(...lengths),
    'completions/max_length': Math.max(...lengths),
    'completions/clipped_ratio': 1 - terminated.length / lengths.length,
    ...(terminated.length > 0 && {
      'completions/mean_terminated_length': mean(terminated),
      'completions/min_terminated_length': Math.min(...terminated),
      'completions/max_terminated_length': Math.max(...terminated),
    }),
  };
}

/** Share of the groups whose members all earned the same: nothing can be learnt from them. */
function constantGroups(rewards: readonly number[], groupSize: number): number {
  return shareOf(inGroups(rewards, groupSize).map((group) => group.every((reward) => reward === group[0])));
}

/** Share of the flags that are set; 0 of none. */
export function shareOf(flags: readonly boolean[]): number {
  return flags.filter(Boolean).length / Math.max(1, flags.length);
}
