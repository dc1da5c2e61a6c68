import type { Episode } from './rollout.js';

/** Sums over played episodes, from which means are computed when a row is due. Plain JSON, so that it can be saved. */
export type Tally = {
  steps: number;
  groups: number;
  mixed: number;
  allGood: number;
  allBad: number;
  episodes: number;
  turns: number;
  said: number;
  observed: number;
  reward: number;
  /** Sum of the log-probabilities of what was said. */
  logprob: number;
  metrics: Record<string, number>;
};

export function emptyTally(): Tally {
  const zero = { steps: 0, groups: 0, mixed: 0, allGood: 0, allBad: 0, episodes: 0, turns: 0 };
  return { ...zero, said: 0, observed: 0, reward: 0, logprob: 0, metrics: {} };
}

/** Adds one training step: its groups of episodes. */
export function tallyStep(tally: Tally, groups: readonly (readonly Episode[])[]): void {
  tally.steps++;
  for (const group of groups) {
    tallyGroup(tally, group.map(total));
    for (const episode of group) tallyEpisode(tally, episode);
  }
}

/** Rows in the names of the source system. `total_…` are means per step, so that they do not depend on how often a row is due. */
export function tallyRow(tally: Tally, prefix: string): Record<string, number> {
  const { steps, groups, episodes, turns } = tally;
  const row: Record<string, number> = {
    [`${prefix}reward/total`]: tally.reward / episodes,
    [`${prefix}by_group/frac_mixed`]: tally.mixed / groups,
    [`${prefix}by_group/frac_all_good`]: tally.allGood / groups,
    [`${prefix}by_group/frac_all_bad`]: tally.allBad / groups,
    [`${prefix}total_episodes`]: episodes / steps,
    [`${prefix}total_turns`]: turns / steps,
    [`${prefix}total_ac_tokens`]: tally.said / steps,
    [`${prefix}total_ob_tokens`]: tally.observed / steps,
    [`${prefix}turns_per_episode`]: turns / episodes,
    [`${prefix}ac_tokens_per_turn`]: tally.said / turns,
    [`${prefix}ob_tokens_per_turn`]: tally.observed / turns,
  };
  for (const [name, sum] of Object.entries(tally.metrics)) row[prefix + name] = sum / turns;
  return row;
}

function tallyGroup(tally: Tally, totals: readonly number[]): void {
  tally.groups++;
  const [first = 0] = totals;
  if (totals.some((reward) => reward !== first)) tally.mixed++;
  else if (first >= 0.5) tally.allGood++;
  else tally.allBad++;
}

function tallyEpisode(tally: Tally, episode: Episode): void {
  tally.episodes++;
  tally.turns += episode.rewards.length;
  tally.observed += episode.observed;
  tally.reward += total(episode);
  episode.turns.forEach((turn, at) => {
    if (turn < 0) return;
    tally.said++;
    tally.logprob += episode.logprobs[at]!;
  });
  for (const metrics of episode.metrics) {
    for (const name in metrics) tally.metrics[name] = (tally.metrics[name] ?? 0) + metrics[name]!;
  }
}

function total({ rewards }: Episode): number {
  return rewards.reduce((sum, reward) => sum + reward, 0);
}
