/** RL_Practice's logs of each sample and of each token: `logs/rollouts.jsonl` and `logs/ratios.jsonl` of a run. */
import { join } from 'node:path';
import { totalReward } from '../environments/environment.js';
import { makeMissing } from '../run/make-directory.js';
import { appendJsonLine, dropRowsFrom } from '../run/metrics-file.js';
import type { Rollout } from './rollouts.js';

/** A group that was played, and whether it is trained on. */
type LoggedGroup = { readonly rollouts: readonly Rollout[]; readonly isKept: boolean };

export class TokenFiles {
  readonly #rollouts: string;
  readonly #ratios: string;

  /** @param start First step of a resumed run: lines of this step and later ones are written again. */
  constructor(run: string, start: number) {
    const directory = join(run, 'logs');
    [this.#rollouts, this.#ratios] = [join(directory, 'rollouts.jsonl'), join(directory, 'ratios.jsonl')];
    makeMissing(directory);
    for (const path of [this.#rollouts, this.#ratios]) dropRowsFrom(path, start);
  }

  /** Writes a line for each answer. Log-probabilities are those in the distribution that the tokens were drawn from. */
  addGroups(step: number, groups: readonly LoggedGroup[]): void {
    for (const { rollouts, isKept } of groups) {
      for (const rollout of rollouts) {
        const { task, turns, rewards, samplingLogprobs } = rollout;
        const { think_len = null, tag_correct = null } = rewards.at(-1)!.metrics ?? {};
        appendJsonLine(this.#rollouts, {
          step,
          ...{ prompt_id: task.id, prompt_text: task.text, gen_text: turns.map(({ text }) => text).join('\n') },
          ...{ think_len, tag_correct, reward: totalReward(rollout) },
          include_in_batch: isKept,
          token_logprob: samplingLogprobs,
          seq_logprob: samplingLogprobs.reduce((sum, each) => sum + each, 0),
        } as { readonly step: number });
      }
    }
  }

  /** Writes a line for a microbatch: the ratio of each trained token. */
  addRatios(step: number, logRatios: readonly number[]): void {
    appendJsonLine(this.#ratios, { step, ratios: logRatios.map(Math.exp) } as { readonly step: number });
  }
}
