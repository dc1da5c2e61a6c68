/** Logs of rollouts for people and for scripts: the files that tinker-cookbook writes of an iteration, and those of RL_Practice. */
import { join } from 'node:path';
import { advantages } from '../advantages/advantages.js';
import { totalReward } from '../environments/environment.js';
import { makeMissing } from '../run/make-directory.js';
import { appendJsonLine, dropRowsFrom } from '../run/metrics-file.js';
import { writeWhole } from '../run/run-directory.js';
import type { Rollout } from './rollouts.js';

/** A group and the step of the weights that sampled it. */
type SampledGroup = { readonly rollouts: readonly Rollout[]; readonly sampledAt: number };

export type RolloutFiles = {
  /** The run directory. */
  readonly directory: string;
  /** Number of groups on a page; 0: no pages. */
  readonly shown: number;
  /** Whether to write a line of JSON for each episode. */
  readonly summaries: boolean;
  /** Purpose of the episodes: training, or an evaluation. */
  readonly purpose: keyof typeof purposes;
};

/** Prefix of file names, and the word for the purpose in lines. */
const purposes = {
  training: { begin: 'train', split: 'train' },
  evaluation: { begin: 'eval_test', split: 'eval/test' },
} as const;

/**
 * Writes `train_iteration_000012.html` and `iteration_000012/train_rollout_summaries.jsonl`, or those of an
 * evaluation, whose names begin with `eval_test`. Existing files are replaced.
 */
export function writeRolloutFiles(
  { directory, shown, summaries, purpose }: RolloutFiles,
  step: number,
  groups: readonly SampledGroup[],
): void {
  const { begin, split } = purposes[purpose];
  const iteration = `iteration_${String(step).padStart(6, '0')}`;
  if (shown > 0) writeWhole(join(directory, `${begin}_${iteration}.html`), page(purpose, step, groups.slice(0, shown)));
  if (!summaries) return;
  makeMissing(join(directory, iteration));
  const lines = groups.flatMap(({ rollouts, sampledAt }, group) =>
    rollouts.map((rollout, index) => JSON.stringify(summaryOf(rollout, { split, step, group, index, sampledAt }))),
  );
  writeWhole(join(directory, iteration, `${begin}_rollout_summaries.jsonl`), `${lines.join('\n')}\n`);
}

/** A row of the cookbook's schema, version 1. */
function summaryOf(
  rollout: Rollout,
  {
    split,
    step,
    group,
    index,
    sampledAt,
  }: { split: string; step: number; group: number; index: number; sampledAt: number },
): object {
  const { task, turns, rewards, tokens, turnOf } = rollout;
  const read = (turn: number) => task.prompt.length + turnOf.findIndex((of) => of === turn);
  return {
    schema_version: 1,
    split,
    iteration: step,
    group_idx: group,
    traj_idx: index,
    tags: task.tags ?? [],
    sampling_client_step: sampledAt,
    total_reward: totalReward(rollout),
    final_reward: 0,
    trajectory_metrics: {},
    steps: turns.map((turn, at) => ({
      step_idx: at,
      ob_len: read(at),
      ac_len: turn.tokens.length,
      reward: rewards[at]!.total,
      episode_done: at === turns.length - 1,
      metrics: rewards[at]!.metrics ?? {},
      logs: {},
    })),
    final_ob_len: task.prompt.length + tokens.length,
  };
}

const style =
  'body{font:14px sans-serif;margin:2em;max-width:80em}pre{white-space:pre-wrap;background:#f4f4f4;padding:.5em}td,th{text-align:left;vertical-align:top;padding:.2em 1em .2em 0}';

function page(purpose: RolloutFiles['purpose'], step: number, groups: readonly SampledGroup[]): string {
  const sections = groups.map(({ rollouts, sampledAt }, index) => {
    const { task } = rollouts[0]!;
    const compared = advantages(
      rollouts.map((rollout) => [totalReward(rollout)]),
      'trajectory',
    );
    const rows = rollouts.map((rollout, at) => {
      const cells = [totalReward(rollout).toFixed(3), compared[at]![0]!.toFixed(3), measurementsText(rollout)];
      return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}<td><pre>${answerText(rollout)}</pre></td></tr>`;
    });
    const head = `<h2>Group ${index}: task ${escapeHtml(task.id)}</h2><p>Played by the weights of step ${sampledAt}.</p>`;
    const table = `<table><tr><th>reward</th><th>advantage</th><th>metrics</th><th>answer</th></tr>${rows.join('\n')}</table>`;
    return `${head}\n<pre>${escapeHtml(task.text)}</pre>\n${table}`;
  });
  const title = purpose === 'training' ? `Iteration ${step}` : `Evaluation of the weights of step ${step}`;
  return `<!doctype html><meta charset="utf-8"><title>${title}</title><style>${style}</style><h1>${title}</h1>\n${sections.join('\n')}\n`;
}

/** Means of the environment's measurements over turns. */
function measurementsText({ rewards }: Rollout): string {
  const names = [...new Set(rewards.flatMap(({ metrics = {} }) => Object.keys(metrics)))];
  const mean = (name: string) => rewards.reduce((sum, { metrics }) => sum + (metrics?.[name] ?? 0), 0) / rewards.length;
  return escapeHtml(names.map((name) => `${name} ${Number(mean(name).toFixed(3))}`).join(', '));
}

function answerText({ turns }: Rollout): string {
  return turns.map(({ text, ended }) => escapeHtml(ended === 'stop' ? text : `${text}…`)).join('\n———\n');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** A group that was played, and whether it is trained on. */
type LoggedGroup = { readonly rollouts: readonly Rollout[]; readonly isKept: boolean };

/** RL_Practice's logs of each sample and of each token: `logs/rollouts.jsonl` and `logs/ratios.jsonl` of a run. */
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
