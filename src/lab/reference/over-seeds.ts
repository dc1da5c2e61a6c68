import { mean, median } from '../../analysis/statistics.js';
import type { ReferenceEpisodes } from './reference-file.js';

/**
 * Summary over the seeds of one setting.
 * @param episodes null for a seed that did not get there: it counts as infinite.
 */
export function overSeeds(episodes: readonly (number | null)[]): ReferenceEpisodes {
  const all = episodes.map((each) => each ?? Infinity).sort((a, b) => a - b);
  const reached = all.filter(Number.isFinite);
  const ranks = medianRanks(all.length);
  return {
    seeds: all.length,
    reached: reached.length,
    median: finite(median(all)!),
    interval: ranks === null || all[ranks[0]] === Infinity ? null : [all[ranks[0]]!, finite(all[ranks[1]]!)],
    mean: mean(reached),
  };
}

/**
 * Ranks, from 0, of the sorted values between which the true median lies with at least 95 % confidence, whatever the
 * distribution: the number of values below it is binomial with ½ (Conover 1999, 3.2).
 *
 * @returns null with fewer than 6 values: even the whole range has less confidence than that.
 */
export function medianRanks(count: number): readonly [number, number] | null {
  let below = -1;
  let chance = 2 ** -count;
  for (let tail = chance; tail <= 0.025; tail += chance) {
    below++;
    chance *= (count - below) / (below + 1);
  }
  return below < 0 ? null : [below, count - 1 - below];
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
