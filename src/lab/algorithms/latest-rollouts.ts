import { mean } from '../../analysis/statistics.js';
import { totalReward } from '../environments/environment.js';
import type { Rollout } from '../rollouts/rollouts.js';

/** The mean reward and the first rollout of the last step, for the log and for pages. */
export class LatestRollouts {
  #latest: { readonly reward: number; readonly first: Rollout } | null = null;

  set(groups: readonly (readonly Rollout[])[]): void {
    this.#latest = { reward: mean(groups.flat().map(totalReward))!, first: groups[0]![0]! };
  }

  /** `reward 0.125`: the mean. */
  words(): string {
    return `reward ${this.#latest?.reward.toFixed(3) ?? '–'}`;
  }

  /** The prompt and the last answer of the first rollout; null before the first step. */
  sample(): { readonly prompt: string; readonly text: string } | null {
    if (this.#latest === null) return null;
    const { task, turns } = this.#latest.first;
    return { prompt: task.text, text: turns.at(-1)!.text };
  }
}
