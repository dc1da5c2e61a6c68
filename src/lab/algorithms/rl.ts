/**
 * The loop of tinker-cookbook on an engine in this process or on any Tinker-compatible service: sample groups of
 * answers, compare the answers of a group, train on them, and sample with the new weights.
 *
 * It has three modes, which differ in when groups are played. Synchronous: all of a batch, then one or more optimizer
 * steps. Stream minibatch: the gradient of a part of the batch is computed as soon as that part is played.
 * Asynchronous: groups are played ahead, with weights that may be `max_steps_off_policy` steps behind. Groups are
 * numbered, and a group's random draws depend on the seed and its number alone: all modes play the same tasks in the
 * same order.
 */
import * as z from 'zod';
import type { Environment, Task } from '../environments/environment.js';
import { openEnvironment } from '../environments/open-environment.js';
import type { Objective } from '../objectives/objectives.js';
import { openObjective } from '../objectives/own-objective.js';
import { measureProbes, testEpisodes, type Probe } from '../probes/evaluator.js';
import { openProbes } from '../probes/own-probe.js';
import { rng } from '../rng.js';
import { rollOut, type Rollout, taskBatches } from '../rollouts/rollouts.js';
import { AheadState, GroupsAhead, isConstant, type PlayedGroup } from '../rollouts/groups-ahead.js';
import { writeRolloutFiles, type RolloutFiles } from '../rollouts/rollout-files.js';
import { addEntropy, addRolloutStatistics, addTagStatistics } from '../rollouts/statistics.js';
import type { Companions } from '../run/companion-files.js';
import type { Means, Row } from '../run/metrics-file.js';
import { restoredState, runTraining, scheduleOf, type Ending, type Run, type Training } from '../run/runner.js';
import type { StepTimes } from '../run/step-times.js';
import type { TrainingService } from '../service/service.js';
import { openTrainedModel, type OpenedModel } from '../tinker/client/open-trained.js';
import { lrMultiplier } from '../update/update.js';
import { learn, learnAsPlayed, type BatchUpdate, type LearningOptions, type Models } from '../update/learn.js';
import { LatestRollouts } from './latest-rollouts.js';
import { modulesOf, requireSameModules, withReward } from './own-parts.js';
import { learningRateOf, requireRlSettings, type RlConfig } from './rl-settings.js';

/** Runs from the first step, or resumes from the run's last checkpoint. */
export async function rl(config: RlConfig, run: Run): Promise<Ending> {
  requireRlSettings(config);
  const eval_every = config.eval_groups === 0 && config.probe === null ? 0 : config.eval_every;
  const savesStart = config.max_steps_off_policy !== null;
  const schedule = { ...scheduleOf(config, { ...config, eval_every }, config.n_batches), savesStart };
  const open = async () => {
    const trained = await openTrainedModel(config, run);
    const { tokenizer } = trained;
    const own = await openEnvironment(config, tokenizer);
    const environment = await withReward(own, config.reward, tokenizer);
    const reference = config.kl_penalty_coef === 0 ? null : await trained.openReference();
    const objective = await openObjective(config.loss_fn, config);
    const probes = await openProbes(config.probe, tokenizer);
    return new Rl(config, { ...trained, environment, reference, objective, probes }, run);
  };
  return runTraining(open, schedule, run, 'A larger n_batches continues.');
}

type RlParts = OpenedModel &
  Models & {
    readonly environment: Environment;
    readonly objective: Objective;
    readonly probes: readonly Probe[];
  };

/** Checkpoints of earlier versions have no `ahead`, because they had only the synchronous mode, and no `modules`. */
const SavedState = z.looseObject({ ahead: AheadState.optional(), modules: z.string().default('') });

class Rl implements Training {
  readonly algorithm = 'rl';
  readonly service: TrainingService;
  readonly companions: Companions | undefined;
  readonly announcement: readonly string[];
  readonly columns = ['optim/entropy', 'optim/kl_sample_train_v1', 'optim/kl_sample_train_v2', 'kl_policy_base'];
  readonly #config: RlConfig;
  readonly #parts: RlParts;
  readonly #directory: string;
  readonly #taskOf: (number: number) => Task;
  readonly #ahead: GroupsAhead;
  readonly #latest = new LatestRollouts();
  readonly #now: () => number;
  /** Milliseconds that each group took to play. */
  readonly #lasted = new WeakMap<readonly Rollout[], number>();

  constructor(config: RlConfig, parts: RlParts, run: Run) {
    this.service = parts.service;
    this.companions = parts.companions ?? undefined;
    this.announcement = announcementOf(config, parts.environment);
    this.#config = config;
    this.#parts = parts;
    this.#directory = run.directory.path;
    this.#now = run.context.now;
    this.#taskOf = numberedTasks(config, parts.environment);
    const { groups_per_batch: perBatch, max_steps_off_policy: age, num_minibatches: minibatches } = config;
    this.#ahead = new GroupsAhead({
      perBatch,
      maxStepsOffPolicy: age ?? 0,
      skipsConstant: age !== null && config.remove_constant_reward_groups,
      isConcurrent: parts.service.snapshot !== undefined && (age !== null || minibatches !== null),
      play: (numbers) => this.#play(numbers),
    });
    const saved = restoredState(run, SavedState, this.algorithm);
    if (saved === null) return;
    requireSameModules(saved.modules, this.#modules());
    const ahead = saved.ahead ?? { next: run.resumed!.batch * perBatch, again: [], finished: [] };
    this.#ahead.restore(ahead, this.#taskOf);
  }

  async step(step: number, row: Means, times: StepTimes): Promise<void> {
    const { groups_per_batch: perBatch, num_minibatches: minibatches, num_substeps: substeps } = this.#config;
    const isAhead = this.#config.max_steps_off_policy !== null;
    const how = { ...this.#learning(step), count: times.count };
    const played: PlayedGroup[] = [];
    const take = async (count: number) => {
      const taken = await this.#ahead.take(step, count);
      played.push(...taken);
      return taken.map(({ rollouts }) => rollouts);
    };
    if (minibatches === null) {
      const groups = await (isAhead ? take(perBatch) : times.count('sampling', () => take(perBatch)));
      const kept = this.#config.remove_constant_reward_groups ? mixedGroups(groups) : groups;
      const done = await learn(this.#parts, kept, how, step);
      if (isAhead) this.#addSamplingTimes(times, played);
      this.#report(row, step, played);
      return this.#addUpdate(row, times, done);
    }
    let last: Promise<unknown> = Promise.resolve();
    const minibatch = () => {
      const next = last.then(() => take(perBatch / substeps / minibatches));
      last = next;
      return next;
    };
    const batch = Array.from({ length: substeps }, () => Array.from({ length: minibatches }, minibatch));
    const done = await learnAsPlayed(this.#parts, batch, how, step);
    this.#addSamplingTimes(times, played);
    this.#report(row, step, played);
    await this.#addUpdate(row, times, done);
  }

  /** The sums for the KL between sampler and learner come with the losses, so this takes little time. */
  async #addUpdate(row: Means, times: StepTimes, done: BatchUpdate | null): Promise<void> {
    if (done === null) return;
    await times.count('compute_kl_sample_train', async () => addUpdate(row, done, this.#config.kl_penalty_coef > 0));
  }

  /** Adds the times of groups that were played one by one. Groups from before an interruption have none. */
  #addSamplingTimes(times: StepTimes, played: readonly PlayedGroup[]): void {
    times.spread(
      'sampling_time',
      played.flatMap(({ rollouts }) => this.#lasted.get(rollouts) ?? []),
    );
  }

  /** Plays groups with the present weights. */
  async #play(numbers: readonly number[]): Promise<Rollout[][]> {
    const began = this.#now();
    const { service, environment } = this.#parts;
    const { group_size: copies, max_tokens: maxTokens, temperature, seed } = this.#config;
    const groups = await rollOut(
      { service: service.snapshot?.() ?? service, environment },
      numbers.map(this.#taskOf),
      { copies, sampling: { maxTokens, temperature }, streams: 'own' },
      numbers.map((number) => rng(seed, `sampling/${number}`)),
    );
    for (const group of groups) this.#lasted.set(group, this.#now() - began);
    return groups;
  }

  #learning(step: number): LearningOptions {
    const { config, learningRate } = { config: this.#config, learningRate: this.#learningRate(step) };
    const { kl_penalty_coef: coefficient, kl_discount_factor: discount, num_minibatches: minibatches } = config;
    return {
      objective: this.#parts.objective,
      estimator: 'trajectory',
      scale: 'none',
      normalization: 'sum',
      pull: 0,
      penalty: coefficient === 0 ? null : { coefficient, discount },
      entropyCoefficient: 0,
      skipConstantGroups: minibatches !== null && config.remove_constant_reward_groups,
      learningRate,
      temperature: config.temperature,
      maxStepKl: null,
      measuresMove: config.compute_post_kl,
      measuresAll: true,
      substeps: config.num_substeps,
      offPolicy: config.max_steps_off_policy !== null || this.#parts.isServed,
      isPipelined: this.service.snapshot !== undefined,
    };
  }

  /** Statistics of a step, by the names of tinker-cookbook. */
  #report(row: Means, step: number, played: readonly PlayedGroup[]): void {
    const groups = played.map(({ rollouts }) => rollouts);
    addEntropy(row, groups);
    addRolloutStatistics(row, 'env/all/', groups, 1);
    addTagStatistics(row, groups);
    if (this.#config.max_steps_off_policy !== null) addAges(row, played, this.#ahead.takeStale());
    this.#latest.set(groups);
    if (step % this.#config.log_every === 0) writeRolloutFiles(this.#files('training'), step, played);
  }

  progress(step: number): Row {
    const { groups_per_batch: groups, group_size: size, max_steps_off_policy: age } = this.#config;
    const episodes = { 'progress/episodes': step * groups * size };
    return { ...episodes, 'optim/lr': this.#learningRate(step), ...(age !== null && { 'training_client/step': step }) };
  }

  async evaluate(step: number): Promise<Row> {
    const { eval_groups: episodes, max_tokens: maxTokens, seed } = this.#config;
    const played: { readonly rollouts: readonly Rollout[]; readonly sampledAt: number }[] = [];
    const seen = (groups: readonly (readonly Rollout[])[]) => {
      for (const rollouts of groups) played.push({ rollouts, sampledAt: step });
    };
    const row = await testEpisodes(this.#parts, { episodes, maxTokens, seen }, { seed, updates: step });
    if (played.length > 0) writeRolloutFiles(this.#files('evaluation'), step, played);
    return { ...row, ...(await measureProbes(this.#parts.probes, this.service, step)) };
  }

  #files(purpose: RolloutFiles['purpose']): RolloutFiles {
    const { num_groups_to_log: shown, rollout_json_export: summaries } = this.#config;
    return { directory: this.#directory, shown, summaries, purpose };
  }

  state() {
    return { ahead: this.#ahead.state(), modules: this.#modules() };
  }

  #modules(): string {
    return modulesOf({ ...this.#config, objective: this.#config.loss_fn });
  }

  async ended(): Promise<void> {
    await this.#parts.close();
  }

  words(): string {
    return this.#latest.words();
  }

  sample() {
    return this.#latest.sample();
  }

  #learningRate(step: number): number {
    const { lr_schedule: schedule, n_batches: steps } = this.#config;
    return learningRateOf(this.#config, lrMultiplier(schedule, Math.min(step, steps - 1), steps));
  }
}

function announcementOf(config: RlConfig, environment: Environment): string[] {
  const { groups_per_batch: groups, group_size: size, n_batches: steps, learning_rate: rate } = config;
  const { max_steps_off_policy: age, num_minibatches: minibatches, num_substeps: substeps } = config;
  const modes = [
    ...(substeps > 1 ? [`${substeps} substeps`] : []),
    ...(minibatches === null ? [] : [`${minibatches} minibatches`]),
    ...(age === null ? [] : [`at most ${age} steps off policy`]),
  ];
  return [
    [
      `${environment.name}: ${steps} steps of ${groups} × ${size} answers`,
      config.loss_fn,
      `learning_rate=${rate}`,
      ...modes,
    ].join(' · '),
  ];
}

/** The task of each group. A batch is drawn once for neighbouring groups. */
function numberedTasks(
  { groups_per_batch: perBatch, seed }: RlConfig,
  environment: Environment,
): (number: number) => Task {
  const batches = taskBatches(environment, perBatch, seed);
  let known: { readonly batch: number; readonly tasks: readonly Task[] } = { batch: -1, tasks: [] };
  return (number) => {
    const batch = Math.floor(number / perBatch);
    if (batch !== known.batch) known = { batch, tasks: batches(batch) };
    return known.tasks[number % perBatch]!;
  };
}

/** The groups whose rewards differ; when there are none, the first group, as in tinker-cookbook. */
export function mixedGroups<G extends readonly Rollout[]>(groups: readonly G[]): readonly G[] {
  const mixed = groups.filter((group) => !isConstant(group));
  return mixed.length > 0 ? mixed : groups.slice(0, 1);
}

/** Adds the steps of the weights that sampled the groups, and the number of stale groups. */
function addAges(row: Means, played: readonly PlayedGroup[], stale: number): void {
  const steps = played.map(({ sampledAt }) => sampledAt);
  row.add('sampling_client/step_max', Math.max(...steps));
  row.add('sampling_client/step_min', Math.min(...steps));
  row.add(
    'sampling_client/step_mean',
    steps.reduce((sum, step) => sum + step, 0),
    steps.length,
  );
  row.add('sampling_client/stale_groups', stale);
}

function addUpdate(row: Means, { statistics, moved, policyBase }: BatchUpdate, hasPenalty: boolean): void {
  const { kl1, kl2, tokens, updates } = statistics;
  row.add('optim/kl_sample_train_v1', kl1, tokens);
  row.add('optim/kl_sample_train_v2', kl2, tokens);
  if (hasPenalty) row.add('kl_policy_base', policyBase * updates, updates);
  if (moved === null) return;
  row.add('kl_pre_post_v1', moved.kl1, moved.tokens);
  row.add('kl_pre_post_v2', moved.kl2, moved.tokens);
}
