/**
 * Policy gradient as tinker-cookbook does it: groups of episodes of each task, advantages from the rewards credited to
 * a turn, a loss that is a sum over tokens, and one or more steps of Adam on each batch.
 */
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { isMemoryEnvironment, secretOf } from '../environments/memory/memory-environment.js';
import type { Environment, Task } from '../environments/environment.js';
import { multiStepTheory, rewardRule, singleStepTheory } from '../environments/memory/rewards.js';
import { klTerms, klWords, type Objective } from '../objectives/objectives.js';
import { openObjective } from '../objectives/own-objective.js';
import { answerDistribution } from '../environments/memory/uniformity.js';
import { Evaluator, type Evaluation, type Probe } from '../probes/evaluator.js';
import { Stay, StayState } from '../probes/stay.js';
import { EpisodeWatch, type Watch } from '../reference/episode-watch.js';
import { ObserverState } from '../reference/observer.js';
import { resumeRng, rng, type Rng } from '../rng.js';
import { rollOut, type RolloutOptions, taskBatches } from '../rollouts/rollouts.js';
import { addEntropy, addRolloutStatistics } from '../rollouts/statistics.js';
import type { Companions } from '../run/companion-files.js';
import type { Means, Row } from '../run/metrics-file.js';
import type { StopSignal } from '../run/process-context.js';
import { restoredState, runTraining, scheduleOf, type Ending, type Run, type Training } from '../run/runner.js';
import type { EngineService } from '../service/engine-service.js';
import { openReference } from '../service/open-model.js';
import { learn, type LearningOptions, type Models } from '../update/learn.js';
import { klSum } from '../update/update.js';
import { openRunEnvironment, openRunPolicy } from './run-policy.js';
import { RevealedAnswers, RevealedState } from '../reference/revealed-answers.js';
import { modulesOf, requireSameModules } from './own-parts.js';
import { announcementOf, hasReference, type TrainConfig } from './train-settings.js';

/** Runs from the first step, or resumes from the run's last checkpoint. */
export async function train(config: TrainConfig, run: Run): Promise<Ending> {
  const schedule = { ...scheduleOf(config, config, config.n_batches), evalEarly: config.eval_early };
  return runTraining(() => openTrain(config, run), schedule, run, 'A larger n_batches continues.');
}

/**
 * The run at its start, or as its last checkpoint left it.
 * @param watch Called with the episodes of each step, in place of the run's own.
 */
export async function openTrain(config: TrainConfig, run: Run, watch?: Watch): Promise<Train | StopSignal> {
  if (config.group_size < 2) noteLoneEpisodes(config, run);
  const played = await openRunEnvironment(config, run);
  const objective = await openObjective(config.loss_fn, config);
  const player = await openRunPolicy(config, played, run);
  if (typeof player === 'string') return player;
  const reference = hasReference(config) ? await openReference(player.source, run) : null;
  const parts = { ...player, environment: played.environment, objective, reference };
  return new Train(config, { ...parts, watch: watch ?? watchOf(config, played.environment, run) }, run);
}

/**
 * Warns about group_size=1, which has no signal.
 * @throws UserError for a single group; larger batches are accepted, as in memory-rl.
 */
function noteLoneEpisodes({ batch_size: groups }: TrainConfig, { context }: Run): void {
  const why = 'an advantage is the reward less its mean over the group, which is 0 in a group of one.';
  if (groups < 2) throw new UserError(`group_size=1 cannot learn: ${why}`, 'Set group_size to 2 or more.');
  context.log(`warning: group_size=1 learns nothing: ${why} Set group_size to 2 or more.`);
}

function watchOf(config: TrainConfig, environment: Environment, { directory }: Run): Watch {
  if (!isMemoryEnvironment(environment))
    return { begin: () => undefined, note: () => undefined, row: () => ({}), state: () => null };
  return new EpisodeWatch({ config, secret: secretOf(config), environment, directory });
}

type PolicyGradientParts = Models & {
  readonly service: EngineService;
  readonly environment: Environment;
  readonly objective: Objective;
  readonly probes: readonly Probe[];
  readonly companions: Companions | undefined;
  readonly watch: Watch;
};

const SavedState = z.looseObject({
  random: z.tuple([z.int(), z.int(), z.int(), z.int()]),
  updates: z.int(),
  observer: ObserverState.nullable().default(null),
  stay: StayState.default({ length: 0, lost: 0 }),
  modules: z.string().default(''),
  told: RevealedState.default({}),
});

class Train implements Training {
  readonly algorithm = 'train';
  readonly service: EngineService;
  readonly companions: Companions | undefined;
  readonly announcement: readonly string[];
  /** Statistics of tokens come before those of episodes. */
  readonly columns = [
    ...['optim/entropy', 'optim/grad_norm', 'optim/step_kl', 'optim/step_halvings'],
    ...['optim/kl_sample_train_v1', 'optim/kl_sample_train_v2', 'optim/kl_reference', 'kl_policy_base'],
  ];
  readonly #config: TrainConfig;
  readonly #parts: PolicyGradientParts;
  readonly #learning: LearningOptions;
  readonly #evaluator: Evaluator;
  readonly #stay: Stay;
  readonly #told: RevealedAnswers;
  readonly #tasks: (step: number) => Task[];
  /** One stream for all episodes of the run: the published figures were drawn so. */
  #random: Rng;
  #updates = 0;

  constructor(config: TrainConfig, parts: PolicyGradientParts, run: Run) {
    this.service = parts.service;
    this.announcement = [...announcementOf(config, parts.environment), ...klWords(config.kl_estimator, config.kl_coef)];
    this.#config = config;
    this.#parts = parts;
    const { environment } = parts;
    this.companions = parts.companions;
    this.#learning = learningOf(config, parts.objective);
    this.#evaluator = new Evaluator(parts.service, evaluationOf(config, parts));
    this.#stay = new Stay(
      isMemoryEnvironment(environment) ? environment.solution().bits : Infinity,
      config.stop_memorised,
    );
    this.#told = new RevealedAnswers(environment);
    this.#tasks = taskBatches(environment, config.batch_size, config.seed);
    this.#random = rng(config.seed, 'sampling');
    const saved = restoredState(run, SavedState, this.algorithm);
    parts.watch.begin(run.resumed?.batch ?? 0, saved?.observer ?? null);
    if (saved === null) return;
    requireSameModules(saved.modules, modulesOf({ ...config, objective: config.loss_fn }));
    this.#random = resumeRng(saved.random);
    this.#updates = saved.updates;
    this.#stay.restore(saved.stay);
    this.#told.restore(saved.told);
  }

  async step(step: number, row: Means): Promise<void> {
    const { service, environment, watch } = this.#parts;
    const { group_size: copies, max_tokens: maxTokens, temperature } = this.#config;

    const options: RolloutOptions = { copies, sampling: { maxTokens, temperature }, streams: 'shared' };
    const groups = await rollOut({ service, environment }, this.#tasks(step), options, this.#random);
    watch.note(step, groups);
    if (!isMemoryEnvironment(environment)) this.#told.note(groups);
    addEntropy(row, groups);
    addRolloutStatistics(row, 'env/all/', groups, 1);

    const done = await learn(this.#parts, groups, this.#learning, step);
    if (done === null) return;
    const { statistics, moved, policyBase } = done;
    const { updates, tokens } = statistics;
    this.#updates += updates;
    row.add('optim/grad_norm', statistics.gradientNorm, updates);
    if (this.#config.max_step_kl !== null) {
      row.add('optim/step_kl', statistics.stepKl, updates);
      row.add('optim/step_halvings', statistics.halvings, updates);
    }
    row.add('optim/kl_sample_train_v1', statistics.kl1, tokens);
    row.add('optim/kl_sample_train_v2', statistics.kl2, tokens);
    if (moved !== null) {
      row.add('kl_pre_post_v1', moved.kl1, moved.tokens);
      row.add('kl_pre_post_v2', moved.kl2, moved.tokens);
    }
    const { kl_coef: coefficient, kl_estimator: estimator } = this.#config;
    if (coefficient > 0) row.add('optim/kl_reference', klSum(done, estimator), tokens);
    if (this.#config.kl_penalty_coef > 0) row.add('kl_policy_base', policyBase * updates, updates);
  }

  progress(step: number): Row {
    const { batch_size: size, group_size: copies, learning_rate: rate } = this.#config;
    const learning = { 'optim/updates': this.#updates, 'optim/lr': rate };
    return { 'progress/episodes': step * size * copies, ...learning, ...this.#parts.watch.row(), ...this.#told.row() };
  }

  async evaluate(): Promise<Row> {
    return this.#stay.see(await this.#evaluator.evaluate(this.#updates));
  }

  enough(): string | null {
    return this.#stay.enough();
  }

  state() {
    const observer = this.#parts.watch.state();
    const watched = observer === null ? {} : { observer };
    const modules = modulesOf({ ...this.#config, objective: this.#config.loss_fn });
    return {
      random: this.#random.state(),
      updates: this.#updates,
      ...watched,
      stay: this.#stay.state,
      modules,
      told: this.#told.state(),
    };
  }

  words(): string {
    const known = this.#evaluator.last?.['test/bits/answer_raw'];
    const bits = known === undefined || known === null ? '' : `${known.toFixed(2)} bits known · `;
    return `${bits}${this.#updates} updates`;
  }
}

function learningOf(config: TrainConfig, objective: Objective): LearningOptions {
  const { kl_penalty_coef: coefficient, kl_discount_factor: discount } = config;
  return {
    objective,
    estimator: config.advantages,
    scale: config.advantage_scale,
    normalization: config.loss_normalization,
    ...klTerms(config.kl_estimator, config.kl_coef, { coefficient, discount }),
    entropyCoefficient: config.entropy_coef,
    skipConstantGroups: config.skip_constant_groups,
    learningRate: config.learning_rate,
    temperature: config.temperature,
    maxStepKl: config.max_step_kl,
    measuresMove: config.compute_post_kl,
    substeps: config.num_substeps,
  };
}

function evaluationOf(config: TrainConfig, { environment, probes }: PolicyGradientParts): Evaluation {
  const batches = config.test_n_batches ?? Math.max(10, Math.floor(config.n_batches / 10));
  const test = { groups: batches * config.batch_size, groupSize: config.group_size, maxTokens: config.max_tokens };
  const evaluation = { environment, test, bits: config.eval_bits, seed: config.seed };
  if (!isMemoryEnvironment(environment)) return { ...evaluation, constants: {}, probes };
  const isDense = config.env_type === 'multi_step';
  const constants = isDense
    ? multiStepTheory(config.N, config.advantages)
    : singleStepTheory(config.N, rewardRule(config));
  const asked = { N: config.N, secret: secretOf(config), format: config.answer_format };
  const ofAnswers: readonly Probe[] =
    config.eval_distribution && !isDense ? [(service) => answerDistribution(service, asked)] : [];
  return { ...evaluation, constants, probes: [...ofAnswers, ...probes] };
}
