/** Statistics of rollouts, by the names of tinker-cookbook. */
import { totalReward } from '../environments/environment.js';
import type { Means, Sums } from '../run/metrics-file.js';
import type { Rollout } from './rollouts.js';

/**
 * Adds the statistics of rollouts to a row, by the names of tinker-cookbook. Metrics of environments are means over
 * turns.
 *
 * @param steps Number of steps of the groups: `total_…` are means per step, so that they do not depend on how often a
 * row is written.
 */
export function addRolloutStatistics(
  row: Means,
  prefix: string,
  groups: readonly (readonly Rollout[])[],
  steps: number,
): void {
  const named = namesUnder(prefix);
  const rewards = row.of(named('reward/total'));
  let [turns, generated, observed] = [0, 0, 0];
  const rollouts = groups.flat();
  for (const rollout of rollouts) {
    turns += rollout.turns.length;
    for (const turn of rollout.turnOf) if (turn >= 0) generated++;
    observed += rollout.observed;
    rewards.sum += totalReward(rollout);
  }
  rewards.count += rollouts.length;
  for (const kind of ['mixed', 'all_good', 'all_bad'] as const) {
    let count = 0;
    for (const group of groups) if (kindOf(group) === kind) count++;
    row.add(named(`by_group/frac_${kind}`), count, groups.length);
  }
  row.add(named('total_episodes'), rollouts.length, steps);
  row.add(named('total_turns'), turns, steps);
  row.add(named('total_ac_tokens'), generated, steps);
  row.add(named('total_ob_tokens'), observed, steps);
  row.add(named('turns_per_episode'), turns, rollouts.length);
  row.add(named('ac_tokens_per_turn'), generated, turns);
  row.add(named('ob_tokens_per_turn'), observed, turns);
  addMeasured(row, named, rollouts);
}

/**
 * Statistics of the groups whose tasks have a tag, as `env/<tag>/…`, for each tag that some groups have and others
 * have not.
 */
export function addTagStatistics(row: Means, groups: readonly (readonly Rollout[])[]): void {
  const tagsOf = (group: readonly Rollout[]) => group[0]!.task.tags ?? [];
  for (const tag of new Set(groups.flatMap(tagsOf))) {
    const tagged = groups.filter((group) => tagsOf(group).includes(tag));
    if (tagged.length < groups.length) addRolloutStatistics(row, `env/${tag}/`, tagged, 1);
  }
}

/** Means of the environment's measurements over turns. */
function addMeasured(row: Means, named: (name: string) => string, rollouts: readonly Rollout[]): void {
  const known: Record<string, Sums> = {};
  for (const { rewards } of rollouts) {
    for (const { metrics = {} } of rewards) {
      for (const name in metrics) {
        const sums = (known[name] ??= row.of(named(name)));
        sums.sum += metrics[name]!;
        sums.count++;
      }
    }
  }
}

const namesByPrefix = new Map<string, Map<string, string>>();

/** Adds a prefix to names. The results are cached: to concatenate them costs more than the statistics. */
function namesUnder(prefix: string): (name: string) => string {
  const known = namesByPrefix.get(prefix) ?? new Map<string, string>();
  namesByPrefix.set(prefix, known);
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    known.set(name, prefix + name);
    return prefix + name;
  };
}

function kindOf(group: readonly Rollout[]): 'mixed' | 'all_good' | 'all_bad' {
  const first = totalReward(group[0]!);
  if (group.some((rollout) => totalReward(rollout) !== first)) return 'mixed';
  return first >= 0.5 ? 'all_good' : 'all_bad';
}

/** Entropy of the generated tokens at temperature 1: an estimate from one sample of each distribution. */
export function addEntropy(row: Means, groups: readonly (readonly Rollout[])[]): void {
  const entropy = row.of('optim/entropy');
  for (const { turnOf, logprobs } of groups.flat()) {
    turnOf.forEach((turn, at) => {
      if (turn < 0) return;
      entropy.sum -= logprobs[at]!;
      entropy.count++;
    });
  }
}
