/**
 * The loop of tinker-cookbook on any Tinker-compatible service, or on an engine in this process: sample groups of answers, compare the
 * answers of a group, learn, sample with what was learnt.
 */
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { key, within, type Config } from '../config/key.js';
import { logPath, loraKeys, runKeys, seed } from '../config/run-keys.js';
import { bool, float, int, oneOf, orNone, text } from '../config/value-type.js';
import { engineChoices, type EngineChoice } from '../engine/choose-engine.js';
import type { Environment, Task } from '../environments/environment.js';
import { openEnvironment } from '../environments/open-environment.js';
import { lossFns, objectiveOf } from '../objectives/objectives.js';
import { resumeRng, rng, type Rng } from '../rng.js';
import { taskBatches } from '../rollouts/batches.js';
import { rollOut } from '../rollouts/rollouts.js';
import { addRolloutStatistics } from '../rollouts/statistics.js';
import type { Companions } from '../run/companion-files.js';
import type { Means } from '../run/means.js';
import type { Row } from '../run/metrics-file.js';
import { restoredState, runTraining, scheduleOf, type Ending, type Run, type Training } from '../run/runner.js';
import { openService, textTokenizer } from '../service/open-model.js';
import type { TrainingService } from '../service/service.js';
import { RemoteService } from '../tinker/client/remote-service.js';
import { addEntropy, learn, type Learning } from './train.js';

/** Names and defaults are those of the cookbook's `recipes.math_rl.train`, where it has them. */
export const rlKeys = {
  model_name: key(
    text,
    '',
    'the model to train: a directory of Hugging Face or memrl; with engine=tinker its name on the service',
  ),
  base_url: key(orNone(text), null, 'with engine=tinker: where the service is; the key is that of TINKER_API_KEY'),
  ...runKeys,
  engine: key(
    oneOf([...engineChoices, 'tinker']),
    'auto',
    'what computes: an engine in this process, or tinker, a service of its protocol at base_url',
  ),
  tokenizer: key(
    orNone(text),
    null,
    'directory with the tokenizer.json of the model; None: where the model or its service says',
  ),
  environment: key(text, 'arithmetic', 'what is played: arithmetic, or the path of a module with your own'),
  environment_params: key(orNone(text), null, 'what that environment is told, as YAML or JSON: {max: 9}'),
  groups_per_batch: key(int(1), 100, 'groups per step'),
  group_size: key(int(2), 4, 'answers per group'),
  n_batches: key(int(0), 100, 'steps; more than a finished run had continues it'),
  learning_rate: key(float(0), 1e-5, 'learning rate of Adam (betas 0.9, 0.95), constant'),
  lora_rank: key(int(0), 32, 'rank of LoRA; 0 trains all weights, where the service can'),
  lora_alpha: loraKeys.lora_alpha,
  loss_fn: key(oneOf(lossFns), 'importance_sampling', 'loss per token'),
  ...within('loss_fn_config', {
    clip_low_threshold: key(orNone(float(0)), null, 'lower bound of the ratio; None: 0.8 for ppo, 0 for cispo'),
    clip_high_threshold: key(orNone(float(0)), null, 'upper bound of the ratio; None: 1.2 for ppo, 4 for cispo'),
    beta: key(float(0), 0.05, 'pull towards the sampler (dro)'),
  }),
  num_substeps: key(int(1), 1, 'Adam steps per batch, each on a part of its answers'),
  remove_constant_reward_groups: key(bool, false, 'groups in which all earned the same train nothing'),
  compute_post_kl: key(
    bool,
    false,
    'measure how far the updates of each batch moved the policy: kl_pre_post_v1 and v2',
  ),
  max_tokens: key(int(1), 5, 'maximum tokens of an answer'),
  temperature: key(float(0.01), 1, 'softmax temperature of the policy that answers; a service trains at 1 alone'),
  log_every: key(int(1), 1, 'steps between rows of metrics.jsonl'),
  save_every: key(int(0), 20, 'steps between checkpoints, 0 for only the last'),
  log_path: logPath,
  seed,
};
export type RlConfig = Config<typeof rlKeys>;

/** What may differ between the attempts at a run. */
export const rlBudget: ReadonlySet<string> = new Set([
  'n_batches',
  'base_url',
  'save_every',
  'log_every',
  ...Object.keys(runKeys),
]);

type Player = {
  readonly service: TrainingService;
  readonly environment: Environment;
  readonly companions?: Companions;
};

const SavedState = z.looseObject({ random: z.tuple([z.int(), z.int(), z.int(), z.int()]) });

/** From the first step, or from where the run's last checkpoint left it. */
export async function rl(config: RlConfig, run: Run): Promise<Ending> {
  const schedule = scheduleOf(config, { ...config, eval_every: 0 }, config.n_batches);
  const { engine } = config;
  const open = () => (engine === 'tinker' ? onService(config, run) : inProcess(config, engine, run));
  return runTraining(async () => new Rl(config, await open(), run), schedule, run, 'A larger n_batches continues.');
}

async function inProcess(config: RlConfig, engine: EngineChoice, run: Run): Promise<Player> {
  const { tokenizer, files } = textTokenizer(config.tokenizer ?? config.model_name);
  const environment = await openEnvironment(config, tokenizer);
  const source = { ...config, engine, tokenizer, load_checkpoint_path: config.model_name };
  const service = await openService(source, run);
  return { service, environment, companions: { shape: service.engine.shape, files } };
}

async function onService(config: RlConfig, { context, resumed }: Run): Promise<Player> {
  const { base_url: url, model_name: model, lora_rank: rank } = config;
  if (url === null)
    throw new UserError('engine=tinker needs a service.', 'Give base_url=http://127.0.0.1:8765, for example.');
  const secret = context.environment['TINKER_API_KEY'];
  if (secret === undefined || secret === '') {
    throw new UserError(
      'There is no key for the service.',
      'Set TINKER_API_KEY; any that begins with tml- does for memrl serve.',
    );
  }
  const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const connection = { baseUrl: url.replace(/\/+$/, ''), key: secret, wait, fetch: globalThis.fetch };
  const service = await RemoteService.open(connection, { model, rank, seed: config.seed });
  context.log(`${model} on ${url}, LoRA of rank ${rank}`);
  const environment = await openEnvironment(
    config,
    textTokenizer(config.tokenizer ?? (await service.tokenizer())).tokenizer,
  );
  if (resumed !== null) await service.loadState(resumed.path);
  return { service, environment };
}

class Rl implements Training {
  readonly algorithm = 'rl';
  readonly service: TrainingService;
  readonly companions: Companions | undefined;
  readonly announcement: readonly string[];
  readonly columns = ['optim/entropy', 'optim/kl_sample_train_v1', 'optim/kl_sample_train_v2'];
  readonly #config: RlConfig;
  readonly #player: Player;
  readonly #tasks: (step: number) => Task[];
  readonly #random: Rng;
  #correct = NaN;

  constructor(config: RlConfig, player: Player, run: Run) {
    this.service = player.service;
    this.companions = player.companions;
    this.#config = config;
    this.#player = player;
    const { groups_per_batch: groups, group_size: size, learning_rate: rate, n_batches: steps } = config;
    this.announcement = [
      `${player.environment.name}: ${steps} steps of ${groups} × ${size} answers · ${config.loss_fn} · learning_rate=${rate}`,
    ];
    this.#tasks = taskBatches(player.environment, groups, config.seed);
    const saved = restoredState(run, SavedState, this.algorithm);
    this.#random = saved === null ? rng(config.seed, 'sampling') : resumeRng(saved.random);
  }

  async step(step: number, row: Means): Promise<void> {
    const { group_size: copies, max_tokens: maxTokens, temperature } = this.#config;
    const options = { copies, sampling: { maxTokens, temperature }, streams: 'own' } as const;
    const groups = await rollOut(this.#player, this.#tasks(step), options, this.#random);
    addEntropy(row, groups);
    addRolloutStatistics(row, 'env/all/', groups, 1);
    const rewards = groups.flat().map((rollout) => rollout.rewards.reduce((sum, { total }) => sum + total, 0));
    this.#correct = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    const done = await learn({ service: this.service, reference: null }, groups, learningOf(this.#config), step);
    if (done === null) return;
    const { statistics, moved } = done;
    row.add('optim/kl_sample_train_v1', statistics.kl1, statistics.tokens);
    row.add('optim/kl_sample_train_v2', statistics.kl2, statistics.tokens);
    if (moved === null) return;
    row.add('kl_pre_post_v1', moved.kl1, moved.tokens);
    row.add('kl_pre_post_v2', moved.kl2, moved.tokens);
  }

  progress(step: number): Row {
    const { n_batches: steps, learning_rate: rate } = this.#config;
    return { 'progress/batch': step, 'progress/done_frac': (step + 1) / steps, 'optim/lr': rate };
  }

  state() {
    return { random: this.#random.state() };
  }

  async ended(): Promise<void> {
    if (this.service instanceof RemoteService) await this.service.close();
  }

  words(): string {
    return `reward ${this.#correct.toFixed(3)}`;
  }
}

function learningOf(config: RlConfig): Learning {
  return {
    objective: objectiveOf(config.loss_fn, config),
    estimator: 'trajectory',
    scale: 'none',
    normalization: 'sum',
    pull: 0,
    penalty: null,
    entropyCoefficient: 0,
    skipConstantGroups: config.remove_constant_reward_groups,
    learningRate: config.learning_rate,
    temperature: config.temperature,
    maxStepKl: null,
    measuresMove: config.compute_post_kl,
    substeps: config.num_substeps,
  };
}
