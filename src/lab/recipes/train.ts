import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import type { Config } from '../config/key.js';
import type { Engine } from '../engine/engine.js';
import type { SolvedEnvironment } from '../environment.js';
import { bitLength } from '../../analysis/memory-rules.js';
import { multiStepTheory, singleStepTheory } from '../environments/memory/rewards.js';
import { objectiveOf } from '../objectives/loss-fn.js';
import { answerDistribution } from '../probes/distribution.js';
import { Evaluator } from '../probes/evaluator.js';
import { ObserverState } from '../reference/observer.js';
import { Stay, StayState } from '../probes/stay.js';
import { resumeRng, rng, type Rng } from '../rng.js';
import { lastCheckpoint, restore, type Resumed } from '../run/checkpoint.js';
import { requireFinite } from '../run/finite.js';
import type { Row } from '../run/metrics-file.js';
import type { RunDirectory } from '../run/run-directory.js';
import { isComplete, runRecipe, type Ending, type Recipe } from '../run/run-recipe.js';
import type { ProcessContext } from '../run/process-context.js';
import { emptyTally, tallyRow, tallyStep, type Tally } from '../tally.js';
import { buildGame, rewardRule, secretOf } from './build-game.js';
import { EpisodeWatch } from './episode-watch.js';
import type { trainKeys } from './keys.js';
import { openModel } from '../service/open-model.js';
import { playBatch, update, type Batch, type Update } from './policy-gradient.js';
import { scheduleOf } from './schedule.js';

type TrainConfig = Config<typeof trainKeys>;

/** Keys of `train` that say how long and how often, so that a run may go on with other values of them. */
const trainBudget = new Set(
  'n_batches stop_memorised eval_early eval_every log_every save_every keep_checkpoints tensorboard test_n_batches engine threads log_path load_checkpoint_path wandb_project wandb_name'.split(
    ' ',
  ),
);

/** Keys that may differ from attempt to attempt: not where the first weights are from, when the run is held to these. */
export function trainBudgetOf(config: TrainConfig): ReadonlySet<string> {
  return !hasReference(config)
    ? trainBudget
    : new Set([...trainBudget].filter((name) => name !== 'load_checkpoint_path'));
}

/** Whether the run is held to the model it began with. */
function hasReference({ kl_coef: pull, kl_penalty_coef: penalty }: TrainConfig): boolean {
  return pull > 0 || penalty > 0;
}

/** Policy gradient on a memory game, from the first step or from the last checkpoint in the directory. */
export async function train(config: TrainConfig, directory: RunDirectory, world: ProcessContext): Promise<Ending> {
  const environment = checkedGame(config);
  const resumed = lastCheckpoint(directory, world.log);
  const schedule = { ...scheduleOf(config, config.n_batches), evalEarly: config.eval_early };
  if (isComplete(resumed, schedule)) {
    world.log(`already complete: ${resumed!.batch} steps are done. A larger n_batches continues.`);
    return { kind: 'finished' };
  }
  announce(config, resumed, world.log);
  const watch = new EpisodeWatch({ config, environment, directory });
  const trainer = await openTrainer(config, { resumed, watch }, world, directory);
  return runRecipe({ world, directory, schedule, recipe: trainer, start: resumed?.batch ?? 0 });
}

/**
 * A run of `memrl train` at its start, or where a checkpoint left it.
 *
 * @param directory Where to record what computes; left out by whoever keeps no run.
 */
export async function openTrainer(
  config: TrainConfig,
  { resumed, watch }: { resumed: Resumed | null; watch: Watch },
  world: ProcessContext,
  directory?: RunDirectory,
): Promise<Recipe> {
  const environment = checkedGame(config);
  const engine = await openModel({ ...config, resumed, tokenizer: environment.tokenizer }, world, directory);
  if (resumed !== null) await restore(engine, resumed);
  const reference = await referenceOf(config, environment, world);
  return new Trainer(config, { environment, engine, reference, watch }, resumed);
}

/** Who is shown the episodes of each step. */
export type Watch = Pick<EpisodeWatch, 'begin' | 'note' | 'row' | 'state'>;

const SavedState = z.object({
  random: z.tuple([z.int(), z.int(), z.int(), z.int()]),
  updates: z.int(),
  tally: z.custom<Tally>((value) => typeof value === 'object' && value !== null),
  optim: z.object({
    tokens: z.number(),
    kl1: z.number(),
    kl2: z.number(),
    gradientNorm: z.number(),
    steps: z.int(),
    stepKl: z.number().default(0),
    halvings: z.int().default(0),
  }),
  klReference: z.number().default(0),
  policyBase: z.number().default(0),
  observer: ObserverState.nullable().default(null),
  stay: StayState.default({ length: 0, lost: 0 }),
});

/** What a run works on. */
type Material = {
  readonly environment: SolvedEnvironment;
  readonly engine: Engine;
  readonly reference: Engine | null;
  readonly watch: Watch;
};

/** The model the run began with, when it is to stay near it; a resumed run opens it anew. */
async function referenceOf(
  config: TrainConfig,
  { tokenizer }: SolvedEnvironment,
  world: ProcessContext,
): Promise<Engine | null> {
  if (!hasReference(config)) return null;
  return openModel(
    { ...config, lora_rank: 0, resumed: null, tokenizer },
    { ...world, log: (line) => world.log(`reference: ${line}`) },
  );
}

const noOptim = { tokens: 0, kl1: 0, kl2: 0, gradientNorm: 0, steps: 0, stepKl: 0, halvings: 0 };

/** The state of a policy-gradient run, between checkpoints and rows. */
class Trainer implements Recipe {
  readonly engine: Engine;
  readonly #environment: SolvedEnvironment;
  readonly #batch: Batch;
  readonly #update: Update;
  readonly #evaluator: Evaluator;
  readonly #watch: Watch;
  readonly #stay: Stay;
  #random: Rng;
  #updates = 0;
  #tally = emptyTally();
  #optim = { ...noOptim };
  /** Sum of the pulls of the tokens counted in `optim`. */
  #klReference = 0;
  /** Sum over updates. */
  #policyBase = 0;

  constructor(config: TrainConfig, { environment, engine, reference, watch }: Material, resumed: Resumed | null) {
    this.engine = engine;
    this.#environment = environment;
    this.#batch = {
      groups: config.batch_size,
      groupSize: config.group_size,
      maxTokens: config.max_tokens,
      temperature: config.temperature,
    };
    this.#update = updateOf(config, reference);
    this.#evaluator = new Evaluator(engine, { environment, ...examination(config) });
    this.#stay = new Stay(environment.solution.bits, config.stop_memorised);
    this.#random = rng(config.seed, 'sampling');
    this.#watch = watch;
    const saved = resumed === null ? null : this.#restore(resumed);
    watch.begin(resumed?.batch ?? 0, saved?.observer ?? null);
  }

  state(): unknown {
    const [updates, tally, optim] = [this.#updates, this.#tally, this.#optim];
    const pull = {
      ...(this.#update.reference !== null && { klReference: this.#klReference }),
      ...(this.#update.penalty !== null && { policyBase: this.#policyBase }),
    };
    const observer = this.#watch.state();
    const watched = observer === null ? {} : { observer };
    const stay = this.#stay.state;
    return structuredClone({ random: this.#random.state(), updates, tally, optim, ...pull, ...watched, stay });
  }

  progress(step: number): Row {
    const episodes = step * this.#batch.groups * this.#batch.groupSize;
    const learning = { 'optim/updates': this.#updates, 'optim/lr': this.#update.learningRate };
    return { 'progress/episodes': episodes, ...learning, ...this.#watch.row() };
  }

  async evaluate(): Promise<Row> {
    const row = await this.#evaluator.evaluate(this.#updates);
    return this.#stay.see(row);
  }

  enough(): string | null {
    return this.#stay.enough();
  }

  async step(step: number): Promise<void> {
    const groups = await playBatch(this.engine, this.#environment, this.#batch, this.#random);
    this.#watch.note(step, groups);
    tallyStep(this.#tally, groups);
    const updated = await update(this.engine, this.#environment, groups, this.#update);
    if (updated === null) return;
    requireFinite(updated.gradientNorm, 'the norm of the gradient', step);
    this.#updates += updated.updates;
    this.#optim.steps += updated.updates;
    this.#optim.stepKl += updated.step?.kl ?? 0;
    this.#optim.halvings += updated.step?.halvings ?? 0;
    this.#optim.tokens += updated.tokens;
    this.#optim.kl1 += updated.kl1;
    this.#optim.kl2 += updated.kl2;
    this.#optim.gradientNorm += updated.gradientNorm;
    this.#klReference += updated.klReference;
    this.#policyBase += updated.policyBase * updated.updates;
  }

  statistics(): Row {
    const { steps, tokens, kl1, kl2, gradientNorm, stepKl, halvings } = this.#optim;
    const isBounded = this.#update.maxStepKl !== null;
    const [klReference, policyBase] = [this.#klReference, this.#policyBase];
    const tally = this.#tally;
    this.#klReference = 0;
    this.#policyBase = 0;
    this.#tally = emptyTally();
    this.#optim = { ...noOptim };
    if (tally.steps === 0) return {};
    return {
      'optim/entropy': -tally.logprob / tally.said,
      ...(steps > 0 && { 'optim/grad_norm': gradientNorm / steps }),
      ...(steps > 0 && isBounded && { 'optim/step_kl': stepKl / steps, 'optim/step_halvings': halvings / steps }),
      ...(tokens > 0 && { 'optim/kl_sample_train_v1': kl1 / tokens, 'optim/kl_sample_train_v2': kl2 / tokens }),
      ...(tokens > 0 && this.#update.reference !== null && { 'optim/kl_reference': klReference / tokens }),
      ...(steps > 0 && this.#update.penalty !== null && { kl_policy_base: policyBase / steps }),
      ...tallyRow(tally, 'env/all/'),
    };
  }

  words(): string {
    const known = this.#evaluator.last?.['test/bits/answer_raw'];
    const bits = known === undefined || known === null ? '' : `${known.toFixed(2)} bits known · `;
    return `${bits}${this.#updates} updates`;
  }

  #restore({ path, state }: Resumed): z.infer<typeof SavedState> {
    const saved = SavedState.safeParse(state);
    if (!saved.success) {
      throw new UserError(`The checkpoint ${path} is not one of memrl train.`, 'Choose another log_path.');
    }
    this.#random = resumeRng(saved.data.random);
    this.#updates = saved.data.updates;
    this.#tally = saved.data.tally;
    this.#optim = saved.data.optim;
    this.#klReference = saved.data.klReference;
    this.#policyBase = saved.data.policyBase;
    this.#stay.restore(saved.data.stay);
    return saved.data;
  }
}

function checkedGame(config: TrainConfig): SolvedEnvironment {
  if (config.group_size < 2) {
    throw new UserError(
      'group_size=1 cannot learn: an advantage is the reward less its mean over the group, which is 0 in a group of one.',
      'Set group_size to 2 or more.',
    );
  }
  return buildGame(config);
}

function updateOf(config: TrainConfig, engine: Engine | null): Update {
  const { kl_coef: pull, kl_penalty_coef: penalty, kl_discount_factor: discount } = config;
  return {
    objective: objectiveOf(config.loss_fn, config),
    credit: config.advantages,
    scale: config.advantage_scale,
    normalization: config.loss_normalization,
    reference: engine === null || pull === 0 ? null : { engine, coefficient: pull },
    penalty: engine === null || penalty === 0 ? null : { engine, coefficient: penalty, discount },
    entropyCoefficient: config.entropy_coef,
    skipConstantGroups: config.skip_constant_groups,
    learningRate: config.learning_rate,
    temperature: config.temperature,
    maxStepKl: config.max_step_kl,
    substeps: config.num_substeps,
  };
}

function examination(config: TrainConfig) {
  const batches = config.test_n_batches ?? Math.max(10, Math.floor(config.n_batches / 10));
  const constants =
    config.env_type === 'multi_step'
      ? multiStepTheory(config.N, config.advantages)
      : singleStepTheory(config.N, rewardRule(config));
  return {
    test: { groups: batches * config.batch_size, groupSize: config.group_size, maxTokens: config.max_tokens },
    bits: config.eval_bits,
    seed: config.seed,
    constants,
    ...(config.eval_distribution && config.env_type === 'single_step' && { more: distributionOf(config) }),
  };
}

function distributionOf(config: TrainConfig): (engine: Engine) => Promise<Row> {
  const asked = { N: config.N, secret: secretOf(config), format: config.answer_format };
  return (engine) => answerDistribution(engine, asked);
}

function announce(config: TrainConfig, resumed: Resumed | null, log: (line: string) => void): void {
  const { N, n_batches: n, batch_size: batch, group_size: group } = config;
  log(`${config.env_type} · N=${N} (${Math.log2(N).toFixed(2)} bits) · secret ${secretOf(config)}`);
  log(`channel: ${channel(config)} · ${n} steps × ${batch} groups × ${group} episodes`);
  if (resumed !== null) log(`continues at step ${resumed.batch} from ${resumed.path}`);
}

function channel(config: TrainConfig): string {
  if (config.env_type === 'multi_step')
    return `${bitLength(config.N)} bits (1 per step), advantages=${config.advantages}`;
  if (config.reward_type === 'binary') return 'binary (1 bit max)';
  return config.reward_type === 'log_distance'
    ? 'log_distance (continuous)'
    : `binned_log_distance (B=${config.reward_bins})`;
}
