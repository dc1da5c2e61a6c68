/**
 * Policy gradient as tinker-cookbook does it: groups of episodes of each task, advantages by the rewards that a turn is credited with, a
 * loss that is a sum over tokens, and one or more steps of Adam on each batch.
 */
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { advantages, type AdvantageEstimator, type Scale } from '../advantages/advantages.js';
import { buildGame, secretOf, type Game } from '../environments/memory/games.js';
import { multiStepTheory, rewardRule, singleStepTheory } from '../environments/memory/rewards.js';
import { k3, objectiveOf, type Normalization, type Objective } from '../objectives/objectives.js';
import { answerDistribution } from '../probes/distribution.js';
import { Evaluator, type Evaluation } from '../probes/evaluator.js';
import { Stay, StayState } from '../probes/stay.js';
import { EpisodeWatch, type Watch } from '../reference/episode-watch.js';
import { ObserverState } from '../reference/observer.js';
import { resumeRng, rng, type Rng } from '../rng.js';
import { rollOut, type Rollout, type RolloutOptions } from '../rollouts/rollouts.js';
import { addRolloutStatistics } from '../rollouts/statistics.js';
import type { Means } from '../run/means.js';
import type { Row } from '../run/metrics-file.js';
import {
  alreadyComplete,
  isComplete,
  restoredState,
  runTraining,
  scheduleOf,
  type Ending,
  type Run,
  type Training,
} from '../run/runner.js';
import type { EngineService } from '../service/engine-service.js';
import { openReference, openService } from '../service/open-model.js';
import { cookbookAdam } from '../update/optimizer.js';
import { datumsOf, update, withPenalty, withReference, type UpdateStatistics } from '../update/update.js';
import { announcementOf, hasReference, type TrainConfig } from './train-settings.js';

/** From the first step, or from where the run's last checkpoint left it. */
export async function train(config: TrainConfig, run: Run): Promise<Ending> {
  const game = checkedGame(config);
  const schedule = { ...scheduleOf(config, config, config.n_batches), evalEarly: config.eval_early };
  if (isComplete(run, schedule)) return alreadyComplete(run, 'A larger n_batches continues.');
  const watch = new EpisodeWatch({ config, secret: secretOf(config), game, directory: run.directory });
  return runTraining(await openTrain(config, run, watch), schedule, run);
}

/** The run at its start, or as its last checkpoint left it. @param watch Is shown the episodes of each step. */
export async function openTrain(config: TrainConfig, run: Run, watch: Watch): Promise<Train> {
  const game = checkedGame(config);
  const source = { ...config, tokenizer: game.tokenizer };
  const service = await openService(source, run);
  const reference = hasReference(config) ? await openReference(source, run) : null;
  return new Train(config, { game, service, reference, watch }, run);
}

function checkedGame(config: TrainConfig): Game {
  if (config.group_size < 2) {
    throw new UserError(
      'group_size=1 cannot learn: an advantage is the reward less its mean over the group, which is 0 in a group of one.',
      'Set group_size to 2 or more.',
    );
  }
  return buildGame(config);
}

/** `reference`: the model the run began with, where it is held to it. */
export type Models = { readonly service: EngineService; readonly reference: EngineService | null };
type Parts = Models & { readonly game: Game; readonly watch: Watch };

const SavedState = z.looseObject({
  random: z.tuple([z.int(), z.int(), z.int(), z.int()]),
  updates: z.int(),
  observer: ObserverState.nullable().default(null),
  stay: StayState.default({ length: 0, lost: 0 }),
});

export class Train implements Training {
  readonly algorithm = 'train';
  readonly service: EngineService;
  readonly announcement: readonly string[];
  /** Statistics of tokens come before those of episodes. */
  readonly columns = [
    ...['optim/entropy', 'optim/grad_norm', 'optim/step_kl', 'optim/step_halvings'],
    ...['optim/kl_sample_train_v1', 'optim/kl_sample_train_v2', 'optim/kl_reference', 'kl_policy_base'],
  ];
  readonly #config: TrainConfig;
  readonly #parts: Parts;
  readonly #learning: Learning;
  readonly #evaluator: Evaluator;
  readonly #stay: Stay;
  /** One stream for all episodes of the run: what the published figures were drawn with. */
  #random: Rng;
  #updates = 0;

  constructor(config: TrainConfig, parts: Parts, run: Run) {
    this.service = parts.service;
    this.announcement = announcementOf(config);
    this.#config = config;
    this.#parts = parts;
    this.#learning = learningOf(config);
    this.#evaluator = new Evaluator(parts.service, evaluationOf(config, parts.game));
    this.#stay = new Stay(parts.game.solution().bits, config.stop_memorised);
    this.#random = rng(config.seed, 'sampling');
    const saved = restoredState(run, SavedState, this.algorithm);
    parts.watch.begin(run.resumed?.batch ?? 0, saved?.observer ?? null);
    if (saved === null) return;
    this.#random = resumeRng(saved.random);
    this.#updates = saved.updates;
    this.#stay.restore(saved.stay);
  }

  async step(step: number, row: Means): Promise<void> {
    const { service, game, watch } = this.#parts;
    const { batch_size: size, group_size: copies, max_tokens: maxTokens, temperature } = this.#config;

    const tasks = Array.from({ length: size }, () => game.task());
    const options: RolloutOptions = { copies, sampling: { maxTokens, temperature }, streams: 'shared' };
    const groups = await rollOut({ service, environment: game }, tasks, options, this.#random);
    watch.note(step, groups);
    addEntropy(row, groups);
    addRolloutStatistics(row, 'env/all/', groups, 1);

    const learnt = await learn(this.#parts, groups, this.#learning, step);
    if (learnt === null) return;
    const { updates, tokens } = learnt;
    this.#updates += updates;
    row.add('optim/grad_norm', learnt.gradientNorm, updates);
    if (this.#config.max_step_kl !== null) {
      row.add('optim/step_kl', learnt.stepKl, updates);
      row.add('optim/step_halvings', learnt.halvings, updates);
    }
    row.add('optim/kl_sample_train_v1', learnt.kl1, tokens);
    row.add('optim/kl_sample_train_v2', learnt.kl2, tokens);
    if (this.#config.kl_coef > 0) row.add('optim/kl_reference', learnt.pull, tokens);
    if (this.#config.kl_penalty_coef > 0) row.add('kl_policy_base', learnt.policyBase * updates, updates);
  }

  progress(step: number): Row {
    const { batch_size: size, group_size: copies, learning_rate: rate } = this.#config;
    const learning = { 'optim/updates': this.#updates, 'optim/lr': rate };
    return { 'progress/episodes': step * size * copies, ...learning, ...this.#parts.watch.row() };
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
    return { random: this.#random.state(), updates: this.#updates, ...watched, stay: this.#stay.state };
  }

  words(): string {
    const known = this.#evaluator.last?.['test/bits/answer_raw'];
    const bits = known === undefined || known === null ? '' : `${known.toFixed(2)} bits known · `;
    return `${bits}${this.#updates} updates`;
  }
}

/** How a batch of groups becomes optimizer steps. */
export type Learning = {
  readonly objective: Objective;
  readonly estimator: AdvantageEstimator;
  readonly scale: Scale;
  readonly normalization: Normalization;
  /** Coefficient of the pull of each token towards the reference; 0: none. */
  readonly pull: number;
  /** What being unlikely to the reference costs a token's advantage; null: nothing. */
  readonly penalty: { readonly coefficient: number; readonly discount: number } | null;
  readonly entropyCoefficient: number;
  readonly skipConstantGroups: boolean;
  readonly learningRate: number;
  readonly temperature: number;
  readonly maxStepKl: number | null;
  readonly substeps: number;
};

function learningOf(config: TrainConfig): Learning {
  const { kl_penalty_coef: coefficient, kl_discount_factor: discount } = config;
  return {
    objective: objectiveOf(config.loss_fn, config),
    estimator: config.advantages,
    scale: config.advantage_scale,
    normalization: config.loss_normalization,
    pull: config.kl_coef,
    penalty: coefficient === 0 ? null : { coefficient, discount },
    entropyCoefficient: config.entropy_coef,
    skipConstantGroups: config.skip_constant_groups,
    learningRate: config.learning_rate,
    temperature: config.temperature,
    maxStepKl: config.max_step_kl,
    substeps: config.num_substeps,
  };
}

/** `policyBase`: before the first step, how much likelier the tokens were than to the reference; mean, nats. */
type Learnt = UpdateStatistics & { readonly policyBase: number };

/**
 * Learns from a batch of groups that the present weights have just played. A group in which all earned the same stays in the batch unless
 * it is to be skipped; in what losses are divided by it counts either way.
 *
 * @returns null when there was nothing to learn from, and the weights are as they were.
 */
export async function learn(
  { service, reference }: Models,
  groups: readonly (readonly Rollout[])[],
  how: Learning,
  step: number,
): Promise<Learnt | null> {
  const { objective, normalization, temperature, substeps, entropyCoefficient } = how;
  const compared = groups.map((group) => {
    const earned = group.map(({ rewards }) => rewards.map(({ total }) => total));
    return advantages(earned, how.estimator, how.scale);
  });
  const all = datumsOf(groups, { advantages: compared, normalization, sampled: samplerOf(how) });
  const chosen = how.skipConstantGroups ? all.filter(({ hasSignal }) => hasSignal) : all;
  if (chosen.length === 0) return null;
  const held = reference === null ? chosen : await withReference(chosen, reference, temperature);
  const { datums, policyBase } =
    how.penalty === null
      ? { datums: held, policyBase: 0 }
      : await withPenalty(held, service, { ...how.penalty, temperature });
  const pull = how.pull === 0 ? null : { estimator: k3, coefficient: how.pull };
  const learnt = await update(service, datums, {
    step,
    loss: { objective, temperature, pull, entropyCoefficient },
    adam: { ...cookbookAdam, learningRate: how.learningRate },
    substeps,
    maxStepKl: how.maxStepKl,
  });
  return { ...learnt, policyBase };
}

/** At another temperature than 1 the first optimizer step has the very policy that played: the ratio is 1. */
function samplerOf({ temperature, substeps }: Learning): ((rollout: Rollout) => ArrayLike<number>) | null {
  if (temperature === 1) return ({ logprobs }) => logprobs;
  return substeps === 1 ? null : ({ samplingLogprobs }) => samplingLogprobs;
}

/** Of what was said, at temperature 1: an estimate from one sample of each distribution. */
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

function evaluationOf(config: TrainConfig, game: Game): Evaluation {
  const batches = config.test_n_batches ?? Math.max(10, Math.floor(config.n_batches / 10));
  const isDense = config.env_type === 'multi_step';
  const asked = { N: config.N, secret: secretOf(config), format: config.answer_format };
  return {
    game,
    test: { groups: batches * config.batch_size, groupSize: config.group_size, maxTokens: config.max_tokens },
    bits: config.eval_bits,
    seed: config.seed,
    constants: isDense ? multiStepTheory(config.N, config.advantages) : singleStepTheory(config.N, rewardRule(config)),
    ...(config.eval_distribution && !isDense && { more: (service) => answerDistribution(service, asked) }),
  };
}
