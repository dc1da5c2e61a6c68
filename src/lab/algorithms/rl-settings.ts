/** Settings of `memrl rl`. */
import { UserError } from '../../base/user-error.js';
import { alsoAt, inertKey, key, within, type Config } from '../config/key.js';
import { foreignKeys, loadPath, logPath, loraKeys, runKeys, seed } from '../config/run-keys.js';
import { isModulePath } from '../config/own-module.js';
import { bool, float, int, nameOrPath, oneOf, orNone, text, type ValueType } from '../config/value-type.js';
import { engineChoices } from '../engine/choose-engine.js';
import { lossFns } from '../objectives/objectives.js';
import { schedules } from '../update/update.js';
import { klDiscountKey, klPenaltyKey } from './kl-keys.js';
import { probeKey, rewardKey } from './own-parts.js';

/** Keys for the model that a loop trains, and for the place where it is computed. */
export const trainedKeys = {
  model_name: key(
    text,
    '',
    'the model to train: a directory of Hugging Face or memrl, or the shape of a new one (tiny, micro) that reads characters; with engine=tinker its name on the service',
  ),
  load_checkpoint_path: key(
    orNone(text),
    null,
    `${loadPath.meaning.replace('. None: random', '')}; with engine=tinker its tinker:// path. None: those of model_name`,
  ),
  base_url: key(orNone(text), null, 'with engine=tinker: URL of the service; its key is read from TINKER_API_KEY'),
  ...runKeys,
  engine: key(
    oneOf([...engineChoices, 'tinker']),
    'auto',
    'an engine in this process; or tinker, a service that speaks its protocol, at base_url',
  ),
  tokenizer: alsoAt(
    key(
      orNone(text),
      null,
      'directory with the tokenizer.json of the model; None: where the model or its service says',
    ),
    'dataset_builder.model_name_for_tokenizer',
  ),
  lora_rank: key(int(0), 32, 'rank of LoRA; 0 trains all weights, if the service supports that'),
  lora_alpha: loraKeys.lora_alpha,
};

/** Class names of tinker-cookbook's data sets, and what they are called here. */
const builders: Readonly<Record<string, string>> = {
  ArithmeticDatasetBuilder: 'arithmetic',
  Gsm8kDatasetBuilder: 'gsm8k',
};

const environmentName: ValueType<string> = {
  name: 'str',
  read: (value) => builders[value.split(/[.:]/).at(-1)!] ?? value,
};

/** Type of a nested setting that names a class: only its presence counts. */
function className(name: string): ValueType<string> {
  return { name, read: (value) => (value.split(/[.:]/).at(-1) === name ? name : undefined) };
}

/** Names and defaults are those of the cookbook's `recipes.math_rl.train` and `rl.train`, if they have them. */
export const rlKeys = {
  ...trainedKeys,
  environment: {
    ...alsoAt(
      key(
        environmentName,
        'arithmetic',
        'environment: arithmetic, secrets, word_problems, gsm8k, or the path of a module with your own',
      ),
      'dataset_builder',
    ),
    alias: 'env',
  },
  environment_params: {
    ...key(
      orNone(text),
      null,
      'parameters of the environment, as YAML or JSON: {max: 9}; or one by one: environment.max=9',
    ),
    entriesOf: ['environment', 'environment_params', 'dataset_builder'],
  },
  groups_per_batch: {
    ...alsoAt(
      key(int(1), 100, 'groups per step'),
      'dataset_builder.batch_size',
      'async_config.groups_per_batch',
      'stream_minibatch_config.groups_per_batch',
    ),
    alias: 'batch_size',
  },
  group_size: alsoAt(key(int(2), 4, 'answers per group'), 'dataset_builder.group_size'),
  n_batches: alsoAt(key(int(0), 100, 'steps; more than a finished run had continues it'), 'dataset_builder.n_batches'),
  learning_rate: key(float(0), 1e-5, 'learning rate of Adam (betas 0.9, 0.95), at the first step'),
  lr_schedule: key(oneOf(schedules), 'constant', 'learning-rate schedule'),
  learning_rate_groups: key(
    orNone(int(1)),
    null,
    'groups per step that learning_rate is meant for: it is multiplied by √(groups_per_batch / this). None: for any number',
  ),
  sampling: key(
    orNone(text),
    null,
    "http://HOST:8000 of an OpenAI-compatible server (vLLM with --enable-lora) that samples the answers and gets each step's weights as a LoRA, through log_path, which it must see; a key is read from OPENAI_API_KEY. None: this process samples",
  ),
  reward: rewardKey,
  loss_fn: {
    ...key(
      nameOrPath(lossFns),
      'importance_sampling',
      'loss per token: one of these, or the path of a module with your own, which a service cannot compute',
    ),
    alias: 'objective',
  },
  ...within('loss_fn_config', {
    clip_low_threshold: key(orNone(float(0)), null, 'lower bound of the ratio; None: 0.8 for ppo, 0 for cispo'),
    clip_high_threshold: key(orNone(float(0)), null, 'upper bound of the ratio; None: 1.2 for ppo, 4 for cispo'),
    beta: key(float(0), 0.05, 'pull towards the sampler (dro)'),
  }),
  kl_penalty_coef: klPenaltyKey,
  kl_discount_factor: klDiscountKey,
  num_substeps: key(int(1), 1, 'Adam steps per batch, each on a part of its answers'),
  stream_minibatch_config: key(
    orNone(className('StreamMinibatchConfig')),
    null,
    'tinker-cookbook’s class for num_minibatches, which must be given with it',
  ),
  num_minibatches: alsoAt(
    key(
      orNone(int(1)),
      null,
      'minibatches of a substep: the gradient of each is computed as soon as its groups are played. None: the whole batch is waited for',
    ),
    'stream_minibatch_config.num_minibatches',
  ),
  async_config: key(
    orNone(className('AsyncConfig')),
    null,
    'tinker-cookbook’s class for max_steps_off_policy, which must be given with it',
  ),
  max_steps_off_policy: alsoAt(
    key(
      orNone(int(0)),
      null,
      'maximum number of steps by which the weights that sample a group may lag behind those trained on it. None: groups are always sampled with the present weights',
    ),
    'async_config.max_steps_off_policy',
  ),
  remove_constant_reward_groups: key(bool, false, 'skip groups whose rewards are all equal'),
  compute_post_kl: key(
    bool,
    false,
    'measure how far the updates of each batch moved the policy: kl_pre_post_v1 and v2',
  ),
  max_tokens: key(int(1), 5, 'maximum tokens of an answer'),
  temperature: key(float(0.01), 1, 'softmax temperature of the policy; a service trains only at 1'),
  eval_every: key(int(0), 20, 'steps between evaluations, 0 for none'),
  eval_groups: key(int(0), 100, 'tasks of an evaluation, each answered once; 0 for none'),
  probe: probeKey,
  num_groups_to_log: key(
    int(0),
    4,
    'groups of a step that train_iteration_….html shows, and of an evaluation that eval_test_iteration_….html shows; 0 for no such pages',
  ),
  rollout_json_export: key(
    bool,
    false,
    'write iteration_…/train_rollout_summaries.jsonl and eval_test_rollout_summaries.jsonl: a line for each answer',
  ),
  log_every: key(int(1), 1, 'steps between rows of metrics.jsonl'),
  save_every: key(int(0), 20, 'steps between checkpoints, 0 for only the last'),
  log_path: logPath,
  seed: alsoAt(seed, 'dataset_builder.seed'),
  recipe_name: inertKey(orNone(text), null, 'runs are named by their directory'),
  ttl_seconds: inertKey(orNone(int(0)), null, 'checkpoints stay until they are removed'),
  behavior_if_log_dir_exists: foreignKeys.behavior_if_log_dir_exists,
};
export type RlConfig = Config<typeof rlKeys>;

/** Keys that may differ from attempt to attempt. */
export const rlBudget: ReadonlySet<string> = new Set([
  ...'n_batches base_url sampling eval_every eval_groups save_every log_every probe num_groups_to_log rollout_json_export'.split(
    ' ',
  ),
  ...Object.keys(runKeys),
]);

/** @throws UserError when settings exclude each other. */
export function requireRlSettings(config: RlConfig): void {
  const { groups_per_batch: groups, num_substeps: substeps, num_minibatches: minibatches } = config;
  if (config.stream_minibatch_config !== null && minibatches === null) {
    throw missing('StreamMinibatchConfig', 'stream_minibatch_config.num_minibatches=8');
  }
  if (config.async_config !== null && config.max_steps_off_policy === null) {
    throw missing('AsyncConfig', 'async_config.max_steps_off_policy=3');
  }
  requireComputable(config);
  const parts = substeps * (minibatches ?? 1);
  if (groups % parts === 0) return;
  const wanted = minibatches === null ? 'equal substeps' : `substeps of ${minibatches} equal minibatches`;
  throw new UserError(
    `A batch of ${groups} groups cannot be cut into ${substeps} ${wanted}.`,
    `Give groups_per_batch a multiple of ${parts}.`,
  );
}

/** @throws UserError when the service or the server that is asked for cannot do this. */
function requireComputable(config: RlConfig): void {
  if (config.engine === 'tinker' && isModulePath(config.loss_fn)) {
    throw new UserError(
      `The objective \`${config.loss_fn}\` cannot be computed on a service.`,
      `Leave out engine=tinker, or take one of ${lossFns.join(', ')}.`,
    );
  }
  if (config.sampling !== null) requireServable(config);
}

/** @throws UserError when a server cannot sample for these settings. */
function requireServable({ sampling: url, engine, lora_rank: rank, temperature }: RlConfig): void {
  if (!/^https?:\/\//.test(url!) || !URL.canParse(url!)) {
    throw new UserError(`sampling=${url} is not the address of a server.`, 'Write it as sampling=http://HOST:8000.');
  }
  if (engine === 'tinker')
    throw new UserError('A service of Tinker’s protocol samples itself.', 'Leave out sampling=.');
  if (rank === 0) {
    throw new UserError(
      'A server gets new weights as a LoRA, and lora_rank=0 trains the whole model.',
      'Give lora_rank=8, for example.',
    );
  }
  if (temperature === 1) return;
  throw new UserError(
    `A server returns its log-probabilities at temperature 1, and temperature=${temperature} would need others.`,
    'Leave out temperature=, or sampling=.',
  );
}

function missing(name: string, example: string): UserError {
  return new UserError(`${name} is given without the value that it needs.`, `Give it, for example ${example}.`);
}

/**
 * The learning rate of a step, from its schedule and the square root of the batch.
 * @param multiplier Multiplier of the schedule.
 */
export function learningRateOf(config: RlConfig, multiplier: number): number {
  const { learning_rate: rate, learning_rate_groups: meant, groups_per_batch: groups } = config;
  return rate * multiplier * (meant === null ? 1 : Math.sqrt(groups / meant));
}
