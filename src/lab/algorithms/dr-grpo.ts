/**
 * Dr. GRPO (Liu et al. 2025, arXiv 2503.20783) as RL_Practice runs it: tasks by a curriculum of pass rates, groups kept only where their
 * rewards differ, advantages that are centred and not scaled, a loss divided by the longest answer of each prompt, a clip that may be
 * asymmetric, AdamW with gradients accumulated over microbatches of prompts, and the gradient noise scale measured on the way.
 */
import * as z from 'zod';
import { mean, quantile } from '../../analysis/statistics.js';
import { UserError } from '../../base/user-error.js';
import { totalReward, type Environment } from '../environments/environment.js';
import { openEnvironment } from '../environments/open-environment.js';
import { klTerms, klWords, type Objective } from '../objectives/objectives.js';
import { openObjective } from '../objectives/own-objective.js';
import { measureProbes, testEpisodes, type Probe } from '../probes/evaluator.js';
import { openProbes } from '../probes/own-probe.js';
import { ProbesState, StepProbes } from '../probes/step-probes.js';
import { rng, shuffle } from '../rng.js';
import { rollOut, type Rollout, taskOf } from '../rollouts/rollouts.js';
import { PassRates, PassRatesState } from '../rollouts/pass-rates.js';
import { TokenFiles, writeRolloutFiles } from '../rollouts/rollout-files.js';
import { addRolloutStatistics } from '../rollouts/statistics.js';
import type { Companions } from '../run/companion-files.js';
import type { Means, Row } from '../run/metrics-file.js';
import { restoredState, runTraining, scheduleOf, type Ending, type Run, type Training } from '../run/runner.js';
import { EngineService } from '../service/engine-service.js';
import type { TrainingService } from '../service/service.js';
import { openTrainedModel, type OpenedModel } from '../tinker/client/open-trained.js';
import { learn, type LearningOptions, type Models } from '../update/learn.js';
import { klSum, lrMultiplier, riseMultiplier, type RolloutDatum } from '../update/update.js';
import type { DrGrpoConfig } from './dr-grpo-settings.js';
import { LatestRollouts } from './latest-rollouts.js';
import { modulesOf, requireSameModules, withReward } from './own-parts.js';
import { trainKeys } from './train-settings.js';

/** Runs from the first step, or resumes from the run's last checkpoint. */
export async function drGrpo(config: DrGrpoConfig, run: Run): Promise<Ending> {
  const { buffer_size: prompts, microbatch_size: part, ppo_epochs: epochs, total_steps: updates } = config;
  if (prompts % part !== 0) {
    throw new UserError(
      `buffer_size=${prompts} is not a multiple of microbatch_size=${part}.`,
      'Set buffer_size to a multiple of microbatch_size.',
    );
  }
  if (config.boundaries.length !== 2 || config.sample_weights.length !== 3) {
    throw new UserError('The curriculum has three levels.', 'Give two boundaries and three sample_weights.');
  }
  const eval_every = config.eval_groups === 0 && config.probe === null ? 0 : config.eval_every;
  const schedule = scheduleOf(config, { ...config, eval_every }, Math.ceil(updates / epochs));
  const open = async () => {
    const trained = await openTrainedModel({ ...config, base_url: null }, run);
    const { tokenizer } = trained;
    const own = await openEnvironment(config, tokenizer);
    const environment = await withReward(own, config.reward, tokenizer);
    const reference = config.kl_beta === 0 ? null : await trained.openReference();
    const objective = await openObjective(config.objective, clipOf(config));
    const probes = await openProbes(config.probe, tokenizer);
    return new DrGrpo(config, { ...trained, environment, reference, objective, probes }, run);
  };
  return runTraining(open, schedule, run, 'A larger total_steps continues.');
}

type DrGrpoParts = OpenedModel &
  Models & {
    readonly environment: Environment;
    readonly objective: Objective;
    /** Probes of evaluations; those of steps are `StepProbes`. */
    readonly probes: readonly Probe[];
  };

/** Bounds of the ratio, for the objectives that clip it. */
function clipOf({ clip_eps: low, clip_eps_high: high }: DrGrpoConfig) {
  const { beta } = trainKeys;
  return { clip_low_threshold: 1 - low, clip_high_threshold: 1 + (high ?? low), beta: beta.default };
}

/** Checkpoints of earlier versions have no `modules`. */
const SavedState = z.looseObject({
  passRates: PassRatesState,
  modules: z.string().default(''),
  probes: ProbesState.nullable().default(null),
});

class DrGrpo implements Training {
  readonly algorithm = 'dr-grpo';
  readonly service: TrainingService;
  readonly companions: Companions | undefined;
  readonly announcement: readonly string[];
  readonly #config: DrGrpoConfig;
  readonly #parts: DrGrpoParts;
  readonly #directory: string;
  readonly #passRates: PassRates;
  readonly #probes: StepProbes | null;
  readonly #files: TokenFiles | null;
  readonly #latest = new LatestRollouts();

  constructor(config: DrGrpoConfig, parts: DrGrpoParts, run: Run) {
    const { service, environment } = parts;
    this.service = service;
    this.companions = parts.companions ?? undefined;
    this.#config = config;
    this.#parts = parts;
    this.#directory = run.directory.path;
    const tasks = Math.min(config.num_tasks, environment.size);
    this.#passRates = this.#newPassRates();
    this.#probes = config.probes.length > 0 ? probesOf(config, parts, this.#drawing()) : null;
    const writesTokens = config.save_ratios || config.save_rollouts_every > 0;
    this.#files = writesTokens ? new TokenFiles(this.#directory, run.resumed?.batch ?? 0) : null;
    const accumulated = config.buffer_size / config.microbatch_size;
    this.announcement = [
      `${environment.name}, ${tasks} tasks: ${config.total_steps} steps of ${config.buffer_size} × ${config.num_generations} answers in ${accumulated} microbatches · lr=${config.lr}`,
      ...klWords(config.kl_estimator, config.kl_beta),
    ];
    const saved = restoredState(run, SavedState, this.algorithm);
    if (saved === null) return;
    requireSameModules(saved.modules, modulesOf(config));
    this.#passRates.restore(saved.passRates);
    if (saved.probes !== null) this.#probes?.restore(saved.probes);
  }

  async step(step: number, row: Means): Promise<void> {
    const groups = await this.#collect(step, row);
    if (groups.length === 0) return;
    const probes = step % this.#config.probe_every === 0 ? this.#probes : null;
    row.addAll({ ...(await probes?.before(step, groups)) });
    const ratios: number[] = [];
    for (let epoch = 0; epoch < this.#config.ppo_epochs; epoch++) {
      const ordered = shuffle([...groups], rng(this.#config.seed, `order/${step}/${epoch}`));
      const how = this.#learning(step, { ratios, probes: epoch === 0 ? probes : null });
      const done = await learn(this.#parts, ordered, how, step);
      if (done === null) continue;
      const { loss, gradientNorm, entropy, tokens, kl1 } = done.statistics;
      row.addAll({ loss, grad_norm: gradientNorm, entropy: entropy / tokens, logr_mean: -kl1 / tokens });
      if (this.#config.kl_beta > 0) row.add('kl', klSum(done, this.#config.kl_estimator), tokens);
      if (epoch === 0) row.addAll({ ...(await probes?.after({ ...how.adam!, learningRate: how.learningRate })) });
    }
    row.addAll(ratioStatistics(ratios));
  }

  async #collect(step: number, row: Means): Promise<Rollout[][]> {
    const { all, kept } = await this.#ask(this.#passRates, this.#config.buffer_size, { step });
    const learnt = kept.slice(0, this.#config.buffer_size);
    this.#report(step, row, { kept: learnt, all, rejected: all.length - kept.length });
    return learnt;
  }

  /** Plays tasks of the curriculum until enough groups are kept. Every group updates its task's pass rate. */
  async #ask(passRates: PassRates, wanted: number, named: { readonly step: number; readonly prefix?: string }) {
    const { rollout_batch_size: atOnce, max_rounds: most, seed: base } = this.#config;
    const { num_generations: copies, max_new_tokens: maxTokens, temperature } = this.#config;
    const { step, prefix = '' } = named;
    const kept: Rollout[][] = [];
    const all: Rollout[][] = [];
    for (let round = 0; round < most && kept.length < wanted; round++) {
      const indices = passRates.draw(atOnce, rng(base, `${prefix}curriculum/${step}/${round}`));
      const tasks = indices.map((index) => taskOf(this.#parts.environment, index, { seed: base, name: 'task' }));
      const options = { copies, sampling: { maxTokens, temperature }, streams: 'own' } as const;
      const groups = await rollOut(this.#parts, tasks, options, rng(base, `${prefix}sampling/${step}/${round}`));
      groups.forEach((group, at) => passRates.update(indices[at]!, mean(group.map(totalReward))!));
      all.push(...groups);
      kept.push(...groups.filter((group) => isKept(group.map(totalReward), this.#config)));
    }
    return { all, kept };
  }

  /** Draws groups for a probe, as a step does: with a copy of the curriculum, and with random streams of their own. */
  #drawing(): ((step: number) => Promise<Rollout[][]>) | null {
    const { gns_prompts: wanted } = this.#config;
    if (wanted === 0) return null;
    return async (step) => {
      const copy = this.#newPassRates();
      copy.restore(this.#passRates.state);
      return (await this.#ask(copy, wanted, { step, prefix: 'probe/' })).kept.slice(0, wanted);
    };
  }

  #newPassRates(): PassRates {
    const { ema_alpha: alpha, boundaries, sample_weights: weights, num_tasks: most } = this.#config;
    return new PassRates({ tasks: Math.min(most, this.#parts.environment.size), alpha, boundaries, weights });
  }

  #report(step: number, row: Means, played: { kept: Rollout[][]; all: Rollout[][]; rejected: number }): void {
    const { all, kept, rejected } = played;
    addRolloutStatistics(row, 'env/all/', all, 1);
    addBatchStatistics(row, kept.flat());
    const { hard, normal, easy } = this.#passRates.counts;
    row.addAll({
      'collect/prompts': all.length,
      'collect/kept': kept.length,
      'collect/rejected_frac': rejected / all.length,
      ...{ 'curriculum/hard': hard, 'curriculum/normal': normal, 'curriculum/easy': easy },
    });
    this.#latest.set(all);
    this.#logRollouts(step, played);
    if (step % this.#config.log_every !== 0) return;
    const { num_groups_to_log: shown, rollout_json_export: summaries } = this.#config;
    const groups = all.map((rollouts) => ({ rollouts, sampledAt: step }));
    writeRolloutFiles({ directory: this.#directory, shown, summaries, purpose: 'training' }, step, groups);
  }

  #logRollouts(step: number, { all, kept }: { kept: Rollout[][]; all: Rollout[][] }): void {
    const { save_rollouts_every: every } = this.#config;
    if (every === 0 || step % every !== 0) return;
    this.#files!.addGroups(
      step,
      all.map((rollouts) => ({ rollouts, isKept: kept.includes(rollouts) })),
    );
  }

  #learning(step: number, seen: { readonly ratios: number[]; readonly probes: StepProbes | null }): LearningOptions {
    const config = this.#config;
    const { weight_decay: weightDecay, grad_clip: clipNorm } = config;
    return {
      objective: this.#parts.objective,
      estimator: 'trajectory',
      scale: 'none',
      normalization: 'dr_grpo',
      ...klTerms(config.kl_estimator, config.kl_beta),
      entropyCoefficient: 0,
      skipConstantGroups: false,
      learningRate: this.#learningRate(step),
      adam: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay, clipNorm },
      temperature: config.temperature,
      maxStepKl: null,
      measuresAll: true,
      substeps: 1,
      offPolicy: config.ppo_epochs > 1,
      microbatch: config.microbatch_size * config.num_generations,
      afterPass: async (datums, { logprobs, loss }) => {
        const own = logRatiosOf(datums, logprobs);
        for (const ratio of own) seen.ratios.push(ratio);
        if (config.save_ratios) this.#files!.addRatios(step, own);
        await seen.probes?.see(datums, loss);
      },
    };
  }

  progress(step: number): Row {
    return { 'optim/lr': this.#learningRate(step), 'optim/updates': step * this.#config.ppo_epochs };
  }

  async evaluate(step: number): Promise<Row> {
    const { eval_groups: episodes, max_new_tokens: maxTokens, seed } = this.#config;
    const row = await testEpisodes(this.#parts, { episodes, maxTokens }, { seed, updates: step });
    return { ...row, ...(await measureProbes(this.#parts.probes, this.service, step)) };
  }

  state() {
    const modules = modulesOf(this.#config);
    return { passRates: this.#passRates.state, probes: this.#probes?.state ?? null, modules };
  }

  words(): string {
    return this.#latest.words();
  }

  sample() {
    return this.#latest.sample();
  }

  #learningRate(step: number): number {
    const { lr, lr_scheduler: schedule, total_steps: updates, ppo_epochs: epochs } = this.#config;
    const steps = Math.ceil(updates / epochs);
    const rise = Math.floor(0.05 * steps);
    if (step < rise) return lr * riseMultiplier(step, rise);
    return lr * lrMultiplier(schedule, Math.min(step, steps) - rise, Math.max(1, steps - rise));
  }
}

/** @throws UserError when the model is not computed in this process: a probe of the gradient needs that. */
function probesOf(
  config: DrGrpoConfig,
  { service, environment }: DrGrpoParts,
  drawGroups: ((step: number) => Promise<Rollout[][]>) | null,
): StepProbes {
  if (!(service instanceof EngineService)) {
    throw new UserError('Probes need a model in this process.', 'Leave out probes=, or choose another engine.');
  }
  return new StepProbes(
    { service, environment },
    {
      probes: config.probes,
      noiseEma: config.gns_ema,
      drawGroups,
      microbatch: config.microbatch_size,
      entropyAnswers: config.entropy_answers,
      fisherAnswers: config.fisher_answers,
      sampling: { maxTokens: config.max_new_tokens, temperature: config.temperature },
      seed: config.seed,
    },
  );
}

/** Statistics of the trained answers, named as in RL_Practice; format and thought only if they are measured. */
function addBatchStatistics(row: Means, rollouts: readonly Rollout[]): void {
  if (rollouts.length === 0) return;
  row.addAll({ r_mean: mean(rollouts.map(totalReward))! });
  for (const name of ['tag_correct', 'think_len']) {
    const found = rollouts.flatMap(({ rewards }) => rewards.at(-1)!.metrics?.[name] ?? []);
    if (found.length > 0) row.addAll({ [name]: mean(found)! });
  }
}

/** Log-ratio of each token in the loss: present log-probability less that at sampling; 0 on-policy. */
function logRatiosOf(datums: readonly RolloutDatum[], logprobs: readonly Float32Array[]): number[] {
  return datums.flatMap(({ weights, logprobs: sampled }, index) => {
    const now = logprobs[index]!;
    return Array.from(now.keys())
      .filter((at) => weights[at] !== 0)
      .map((at) => (sampled === undefined ? 0 : now[at]! - sampled[at]!));
  });
}

/** Whether a group is trained on: its rewards differ enough, and are not rejected for being all equal. */
export function isKept(
  rewards: readonly number[],
  config: Pick<DrGrpoConfig, 'reward_var_thresh' | 'reject_all_zero' | 'reject_all_max'>,
): boolean {
  const centre = mean(rewards)!;
  const variance = mean(rewards.map((reward) => (reward - centre) ** 2))!;
  if (variance < config.reward_var_thresh) return false;
  if (rewards.some((reward) => reward !== rewards[0])) return true;
  return rewards[0] === 0 ? !config.reject_all_zero : !config.reject_all_max;
}

/** Bound of a log-ratio: ratios beyond e⁸ do not come from neighbouring policies. */
const mostLogRatio = 8;

/** @param logRatios Log-ratios of the trained tokens: new log-probability less that at sampling. */
export function ratioStatistics(logRatios: readonly number[]): Row {
  if (logRatios.length === 0) return {};
  const sorted = logRatios.map(Math.exp).sort((a, b) => a - b);
  const centre = mean(logRatios)!;
  return {
    ratio_mean: mean(sorted),
    ratio_median: quantile(sorted, 0.5),
    ratio_p90: quantile(sorted, 0.9),
    ratio_p99: quantile(sorted, 0.99),
    ratio_max: sorted.at(-1)!,
    ratio_outlier_frac: logRatios.filter((each) => Math.abs(each) > mostLogRatio).length / logRatios.length,
    logr_std: Math.sqrt(mean(logRatios.map((each) => (each - centre) ** 2))!),
  };
}
