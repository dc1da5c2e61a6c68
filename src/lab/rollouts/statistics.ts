/** What is reported of rollouts: by the names of tinker-cookbook, and by those of TRL. */
import { deviation, mean } from '../../analysis/statistics.js';
import { totalReward } from '../environments/environment.js';
import type { Means } from '../run/means.js';
import type { Row } from '../run/metrics-file.js';
import type { Rollout } from './rollouts.js';

/**
 * Adds the statistics of rollouts to a row, by the names of tinker-cookbook. Metrics of environments are means over turns.
 *
 * @param steps That the groups are of: `total_…` are means per step, so that they do not depend on how often a row is due.
 */
export function addRolloutStatistics(
  row: Means,
  prefix: string,
  groups: readonly (readonly Rollout[])[],
  steps: number,
): void {
  const rollouts = groups.flat();
  const count = (of: (rollout: Rollout) => number) => rollouts.reduce((sum, rollout) => sum + of(rollout), 0);
  const episodes = rollouts.length;
  const turns = count((rollout) => rollout.turns.length);
  const said = count(({ turnOf }) => turnOf.filter((turn) => turn >= 0).length);
  const observed = count((rollout) => rollout.observed);
  for (const rollout of rollouts) row.add(`${prefix}reward/total`, totalReward(rollout));
  const kinds = groups.map(kindOf);
  for (const kind of ['mixed', 'all_good', 'all_bad'] as const)
    row.add(`${prefix}by_group/frac_${kind}`, kinds.filter((each) => each === kind).length, groups.length);
  row.add(`${prefix}total_episodes`, episodes, steps);
  row.add(`${prefix}total_turns`, turns, steps);
  row.add(`${prefix}total_ac_tokens`, said, steps);
  row.add(`${prefix}total_ob_tokens`, observed, steps);
  row.add(`${prefix}turns_per_episode`, turns, episodes);
  row.add(`${prefix}ac_tokens_per_turn`, said, turns);
  row.add(`${prefix}ob_tokens_per_turn`, observed, turns);
  for (const { rewards } of rollouts) {
    for (const { metrics = {} } of rewards) for (const name in metrics) row.add(prefix + name, metrics[name]!);
  }
}

function kindOf(group: readonly Rollout[]): 'mixed' | 'all_good' | 'all_bad' {
  const [first = 0, ...others] = group.map(totalReward);
  if (others.some((reward) => reward !== first)) return 'mixed';
  return first >= 0.5 ? 'all_good' : 'all_bad';
}

/** What TRL reports of a batch of completions. @param rewards That are learnt from, of each rollout of each group. */
export function completionStatistics(
  groups: readonly (readonly Rollout[])[],
  rewards: readonly (readonly number[])[],
): Row {
  const rollouts = groups.flat();
  const lengths = rollouts.map(({ turns }) => turns.reduce((sum, { tokens }) => sum + tokens.length, 0));
  const terminated = lengths.filter((_, index) => rollouts[index]!.turns.at(-1)!.ended === 'stop');
  return {
    reward: mean(rewards.flat()),
    reward_std: deviation(rewards.flat()),
    frac_reward_zero_std: shareOf(rewards.map((group) => group.every((reward) => reward === group[0]))),
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

/** Share of the flags that are set; 0 of none. */
export function shareOf(flags: readonly boolean[]): number {
  return flags.filter(Boolean).length / Math.max(1, flags.length);
}
