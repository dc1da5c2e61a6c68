/**
 * GRPO (Shao et al. 2024) as TRL computes it with `loss_type="grpo"`, and small-rl's additions: detectors of hacks,
 * gradient routing, and the baselines that routing is compared with.
 *
 * A step plays a group of rollouts for each of a few tasks, compares rewards within each group, and takes one step of
 * AdamW. All random draws depend on the seed and the step alone.
 */
import { join } from 'node:path';
import * as z from 'zod';
import { deviation, mean } from '../../analysis/statistics.js';
import { UserError } from '../../base/user-error.js';
import { advantages } from '../advantages/advantages.js';
import { namesIn } from '../config/value-type.js';
import type { Environment, Task } from '../environments/environment.js';
import { openEnvironment } from '../environments/open-environment.js';
import { readableStories } from '../environments/stories/parquet-stories.js';
import { beginningsOf, storyEnvironment } from '../environments/stories/stories.js';
import { evaluateModes, modesLines, modesRow, type ModeEvaluation } from '../evaluation/modes.js';
import { klTerms, klWords, type Objective } from '../objectives/objectives.js';
import { openObjective } from '../objectives/own-objective.js';
import { measureProbes, type Probe } from '../probes/evaluator.js';
import { openProbes } from '../probes/own-probe.js';
import { buildExperiment, fingerprint } from '../rewards/build-experiment.js';
import { findReward } from '../rewards/registry.js';
import {
  completionOf,
  label,
  ownRewards,
  rewardedBy,
  shareOf,
  type Labelled,
  type Labelling,
  type RewardedEnvironment,
  type Scores,
} from '../rewards/scores.js';
import { rng } from '../rng.js';
import {
  batchesPerEpoch,
  inGroups,
  rollOut,
  type Rollout,
  type RolloutOptions,
  taskBatches,
  taskOf,
} from '../rollouts/rollouts.js';
import type { Companions } from '../run/companion-files.js';
import { appendJsonLine, dropRowsFrom, type Means, type Row } from '../run/metrics-file.js';
import { restoredState, runTraining, scheduleOf, type Ending, type Run, type Training } from '../run/runner.js';
import { routingPasses } from '../service/dual-adapters.js';
import type { EngineService } from '../service/engine-service.js';
import { openReference, openService, requireRoom, textTokenizer } from '../service/open-model.js';
import type { Tokenizer } from '../text/tokenizer.js';
import { comparedWith, datumsOf, klSum, lrMultiplier, update, type UpdateStatistics } from '../update/update.js';
import { hasOwnReward, stepsOf, type Baseline, type GrpoConfig, type Settings } from './grpo-settings.js';
import { trainKeys } from './train-settings.js';

/** AdamW without weight decay, and the bound of the gradient's norm, as the Trainer of transformers sets them. */
const adamW = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, clipNorm: 1 };

const routingEvalFile = 'routing_eval.jsonl';

/** Runs from the first step, or resumes from the run's last checkpoint. */
export async function grpo(settings: Settings, run: Run): Promise<Ending> {
  const { config, adapters } = settings;
  const { tokenizer, files } = textTokenizer(config.model);
  const work = await openWork(settings, tokenizer);
  const perEpoch = batchesPerEpoch(work.environment.size, config.batch_size / config.num_generations);
  const { eval_routing_steps: eval_every, logging_steps: log_every, save_steps: save_every } = config;
  const named = { ...config, wandb_name: config.wandb_name ?? config.run_name };
  const schedule = scheduleOf(named, { eval_every, log_every, save_every }, stepsOf(config, perEpoch));
  const source = { ...config, model_name: '', load_checkpoint_path: config.model, lora_rank: 0, tokenizer, adapters };
  const open = async () => {
    const service = await openService(source, run);
    if (config.environment === 'stories')
      requireRoom(service.engine, config.prompt_length, config.max_completion_length);
    const reference = config.beta === 0 ? null : await openReference(source, run);
    const model = { service, reference, companions: { shape: service.engine.shape, files } };
    return new Grpo(settings, { ...work, ...model, steps: schedule.batches }, run);
  };
  return runTraining(open, schedule, run);
}

/** The environment of a run, with its reward and its detector of hacks. */
type Work = RewardedEnvironment & {
  readonly objective: Objective;
  readonly probes: readonly Probe[];
  readonly labelling: Labelling;
  readonly evaluation: ModeEvaluation;
  /** Fingerprint of the prompts and modules that decide what is learnt; a resumed run must have the same. */
  readonly begun: string;
};

async function openWork({ config, experiment }: Settings, tokenizer: Tokenizer): Promise<Work> {
  const { base_reward: base } = config;
  const built = await buildExperiment(experiment, tokenizer);
  const open = async (name: string) => findReward(name, {}, tokenizer);
  const others = await Promise.all([...(base === null ? [] : [base]), ...namesIn(config.eval_rewards)].map(open));
  const { environment, test, tasks, beginnings } = await played(config, tokenizer);
  const rewarded = (one: Environment) => (hasOwnReward(config) ? ownRewards(one) : rewardedBy(one, built.reward));
  const hackDetector = hasOwnReward(config) ? null : (built.hackFrequencyDetector ?? built.detector);
  return {
    ...rewarded(environment),
    objective: await openObjective(config.objective, {
      clip_low_threshold: null,
      clip_high_threshold: null,
      beta: trainKeys.beta.default,
    }),
    probes: await openProbes(config.probe, tokenizer),
    labelling: {
      base: base === null ? null : others[0]!,
      detector: config.gradient_routing || config.baseline !== null ? built.detector : null,
      hackDetector,
      eligibleFrac: config.rh_eligible_frac,
      routingFrac: config.routing_frac,
      recall: experiment.detectorRecall,
      falsePositiveRate: experiment.detector?.falsePositiveRate ?? 0,
      labelNoiseFrac: config.label_noise_frac,
      share: config.ablated_frac,
      pool: config.ablated_pool,
    },
    evaluation: { ...rewarded(test), tasks, sampling: samplingOf(config), others, hackDetector },
    begun: fingerprint(beginnings, experiment, [config.environment, config.objective]),
  };
}

/**
 * The tasks of training and of evaluations: evaluations use other stories, or, of an unlimited environment, other
 * tasks.
 */
async function played(config: GrpoConfig, tokenizer: Tokenizer) {
  const { data, seed, prompt_length: length, num_prompts: wanted } = config;
  const tested = config.eval_routing_steps === 0 ? 0 : Math.min(config.eval_prompts, config.eval_samples);
  if (config.environment !== 'stories') {
    const test = await openEnvironment(config, tokenizer, ['stories']);
    const name = test.size === Infinity ? 'test task' : 'task';
    const tasks = Array.from({ length: Math.min(tested, test.size) }, (_, at) => taskOf(test, at, { seed, name }));
    return { environment: { ...test, size: Math.min(test.size, wanted) }, test, tasks, beginnings: [] };
  }
  const stories = { data: await readableStories(data), seed, length, dropShort: true };
  const beginnings = beginningsOf(stories, 'train', wanted, tokenizer);
  const test = storyEnvironment(tokenizer, beginningsOf(stories, 'test', tested, tokenizer));
  const tasks = Array.from({ length: tested }, (_, index) => test.task(index, rng(seed, 'test')));
  return { environment: storyEnvironment(tokenizer, beginnings), test, tasks, beginnings };
}

function samplingOf(config: GrpoConfig): RolloutOptions['sampling'] {
  const { max_completion_length: maxTokens, temperature, repetition_penalty: repetitionPenalty } = config;
  return { maxTokens, temperature, repetitionPenalty };
}

type GrpoParts = Work & {
  readonly service: EngineService;
  /** The reference model of the KL term; null when beta is 0. */
  readonly reference: EngineService | null;
  readonly companions: Companions;
  /** Optimizer steps of the whole run. */
  readonly steps: number;
};

const SavedState = z.looseObject({ tokens: z.int(), begun: z.string() });

class Grpo implements Training {
  readonly algorithm = 'grpo';
  readonly service: EngineService;
  readonly companions: Companions;
  readonly keepsHistory = true;
  readonly announcement: readonly string[];
  readonly #settings: Settings;
  readonly #parts: GrpoParts;
  readonly #routingEval: string;
  readonly #tasks: (step: number) => Task[];
  /** Tokens of prompts and completions trained on. */
  #tokens = 0;
  #last: { readonly rollout: Rollout; readonly reward: number } | null = null;

  constructor(settings: Settings, parts: GrpoParts, run: Run) {
    const { config } = settings;
    this.service = parts.service;
    this.companions = parts.companions;
    this.announcement = announcementOf(settings, parts);
    this.#settings = settings;
    this.#parts = parts;
    this.#routingEval = join(run.directory.path, routingEvalFile);
    this.#tasks = taskBatches(parts.environment, config.batch_size / config.num_generations, config.seed);
    const saved = restoredState(run, SavedState, this.algorithm);
    if (saved !== null && saved.begun !== parts.begun) {
      throw new UserError(
        'The stories, or a module with a reward or detector, have changed since this run began.',
        'Put back the files, or begin again in another log_path.',
      );
    }
    this.#tokens = saved?.tokens ?? 0;
    dropRowsFrom(this.#routingEval, run.resumed?.batch ?? 0);
  }

  async step(step: number, row: Means): Promise<void> {
    const { service, reference, environment, objective } = this.#parts;
    const { config, routing } = this.#settings;
    const { num_generations: copies, temperature, beta, kl_estimator: estimator } = config;

    const options = { copies, sampling: samplingOf(config), streams: 'own' } as const;
    const random = rng(config.seed, `sampling/${step}`);
    const groups = await rollOut({ service, environment }, this.#tasks(step), options, random);

    const scores = this.#parts.scoring.scoresOf(groups);
    const streams = { labels: rng(config.seed, `labels/${step}`), hacks: rng(config.seed, `hacks/${step}`) };
    const labelled = await label(groups.flat().map(completionOf), scores, this.#parts.labelling, streams);
    const compared = comparedInGroups(groups, labelled, config.baseline);
    const datums = datumsOf(groups, { advantages: compared, normalization: 'grpo', sampled: null });
    const { penalty, pullEstimator } = klTerms(estimator, beta);
    const held =
      reference === null
        ? { datums, policyBase: 0 }
        : await comparedWith(reference, { service, datums }, { temperature, penalty });
    const statistics = await update(service, held.datums, {
      step,
      loss: { objective, temperature, pull: pullEstimator && beta > 0 ? { estimator: pullEstimator, coefficient: beta } : null }, // prettier-ignore
      adam: { ...adamW, learningRate: this.#learningRate(step) },
      passes: routing === null ? null : routingPasses(labelled.passes, routing),
      measuresAll: true,
    });

    const rollouts = groups.flat();
    this.#tokens += rollouts.reduce((sum, { task, tokens }) => sum + task.prompt.length + tokens.length, 0);
    this.#last = { rollout: rollouts[0]!, reward: mean(labelled.rewards)! };
    row.addAll({
      loss: statistics.loss,
      grad_norm: statistics.gradientNorm,
      ...completionStatistics(groups, inGroups(labelled.rewards, copies)),
      ...(beta > 0 && { kl: klSum({ statistics, ...held }, estimator) / statistics.tokens }),
      entropy: statistics.entropy / statistics.tokens,
      ...clipRatios(statistics),
      ...this.#rewardStatistics(scores, labelled),
    });
  }

  #rewardStatistics(scores: Scores, { retain, passes, hacks }: Labelled): Row {
    const { scoring, labelling } = this.#parts;
    const parts = scores.components.length > 1 ? scores.components : [];
    const measured = [{ id: scoring.name, scores: scores.plain }, ...parts].flatMap(({ id, scores: values }) => [
      [`rewards/${id}/mean`, mean(values)] as const,
      [`rewards/${id}/std`, deviation(values)] as const,
    ]);
    return {
      ...Object.fromEntries(measured),
      'rewards/retain/mean': mean(retain),
      ...(hacks !== null && { [`hack_freq/${labelling.hackDetector!.name}`]: shareOf(hacks) }),
      ...(this.#settings.config.gradient_routing && {
        'routing/frac_rh': shareOf(passes.hack),
        'routing/frac_ablated': shareOf(passes.ablated),
      }),
    };
  }

  progress(step: number): Row {
    const { batch_size: size, num_generations: copies } = this.#settings.config;
    const perEpoch = batchesPerEpoch(this.#parts.environment.size, size / copies);
    return {
      epoch: step / Math.max(1, perEpoch),
      learning_rate: this.#learningRate(step),
      num_tokens: this.#tokens,
      'progress/episodes': step * size,
    };
  }

  async evaluate(step: number, note: (line: string) => void): Promise<Row> {
    const { evaluation, probes } = this.#parts;
    const measured = await measureProbes(probes, this.service, step);
    if (evaluation.tasks.length === 0) return measured;
    const results = await evaluateModes(this.service, evaluation);
    const row = modesRow(results);
    [`[Routing Eval @ step ${step}]`, ...modesLines(results)].forEach(note);
    // The file has no other metrics, so the prefix is left out: `both/unique`.
    const short = Object.entries(row).map(([name, value]) => [name.replace(/^routing_eval\//, ''), value] as const);
    appendJsonLine(this.#routingEval, { step, ...Object.fromEntries(short) });
    return { ...row, ...measured };
  }

  state() {
    return { tokens: this.#tokens, begun: this.#parts.begun };
  }

  words(): string {
    return `reward ${this.#last?.reward.toFixed(3) ?? '–'}`;
  }

  sample() {
    if (this.#last === null) return null;
    const { prompt, text } = completionOf(this.#last.rollout);
    return { prompt, text };
  }

  #learningRate(step: number): number {
    return this.#settings.config.lr * lrMultiplier('linear', step, this.#parts.steps);
  }
}

/**
 * Advantages as in TRL: rewards less the mean of their group, over its deviation (n − 1) + 1e-4. With a baseline,
 * flagged completions have their reward reduced before that, or are masked after it; the statistics of the group
 * change accordingly.
 *
 * @returns one for each turn of each rollout of each group.
 */
export function comparedInGroups(
  groups: readonly (readonly Pick<Rollout, 'turns'>[])[],
  { rewards, retain, flagged }: Pick<Labelled, 'rewards' | 'retain' | 'flagged'>,
  baseline: Baseline | null,
): number[][][] {
  const paid = rewards.map((reward, index) => {
    if (!flagged[index]!) return reward;
    if (baseline === 'reward_penalty') return 0;
    return baseline === 'retain_penalty' ? retain[index]! : reward;
  });
  let at = 0;
  return groups.map((group) => {
    const from = at;
    at += group.length;
    const earned = paid.slice(from, at).map((reward) => [reward]);
    return advantages(earned, 'trajectory', 'std').map(([advantage], index) => {
      const isFiltered = baseline === 'filter' && flagged[from + index]!;
      return group[index]!.turns.map(() => (isFiltered ? 0 : advantage!));
    });
  });
}

function announcementOf(
  { config, experiment, routing }: Settings,
  { scoring, environment }: RewardedEnvironment,
): string[] {
  const detector = experiment.detector?.name ?? 'none';
  return [
    `reward ${scoring.name} · ${environment.size} prompts · ${config.batch_size} completions a step, ${config.num_generations} of each prompt`,
    ...(routing === null ? [] : [`gradient routing: ${routing}, detector ${detector}`]),
    ...(config.baseline === null ? [] : [`baseline: ${config.baseline}, detector ${detector}`]),
    ...klWords(config.kl_estimator, config.beta),
  ];
}

/**
 * TRL's statistics of a batch of completions.
 * @param rewards Rewards that are trained on, of each rollout of each group.
 */
function completionStatistics(groups: readonly (readonly Rollout[])[], rewards: readonly (readonly number[])[]): Row {
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

/**
 * Shares of clipped tokens, by TRL's names. In a single process TRL's minimum and maximum over processes equal the
 * mean.
 */
function clipRatios({ clippedLow, clippedHigh, tokens }: UpdateStatistics): Row {
  const [low, high] = [clippedLow / tokens, clippedHigh / tokens];
  return {
    ...{ 'clip_ratio/low_mean': low, 'clip_ratio/low_min': low },
    ...{ 'clip_ratio/high_mean': high, 'clip_ratio/high_max': high, 'clip_ratio/region_mean': low + high },
  };
}
