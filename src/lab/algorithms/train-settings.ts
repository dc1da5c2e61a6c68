/** Settings of `memrl train`. */
import { bitLength } from '../environments/memory/rules.js';
import { UserError } from '../../base/user-error.js';
import { advantageEstimators, scales } from '../advantages/advantages.js';
import type { Arguments } from '../config/arguments.js';
import { key, within, type Config } from '../config/key.js';
import {
  foreignKeys,
  memoryLoadPath,
  logPath,
  loraKeys,
  modelName,
  runKeyNames,
  runKeys,
  seed,
} from '../config/run-keys.js';
import { bool, float, int, nameOrPath, oneOf, orNone, text } from '../config/value-type.js';
import type { Environment } from '../environments/environment.js';
import * as memory from '../environments/memory/keys.js';
import { secretOf } from '../environments/memory/memory-environment.js';
import { lossFns, normalizations } from '../objectives/objectives.js';
import { optimizers } from '../service/descent.js';
import { klCoefficient, klDiscountKey, klEstimatorKey, klPenaltyKey } from './kl-keys.js';
import { probeKey, rewardKey } from './own-parts.js';

/** Keys to run an algorithm on another environment than the one it was made for. */
export const environmentKeys = {
  environment: key(
    text,
    'memory',
    'environment: memory (the games of env_type), arithmetic, secrets, word_problems, gsm8k, or the path of a module with your own',
  ),
  environment_params: key(orNone(text), null, 'parameters of the environment, as YAML or JSON: {max: 9}'),
};

export const descentKeys = {
  optimizer: key(
    oneOf(optimizers),
    'adam',
    'how a gradient becomes a step: adam, sgd, momentum (0.9), or muon (matrices of the layers, the rest by Adam); the rate is of another size for sgd and momentum',
  ),
  log_slope: key(
    bool,
    false,
    'measure at each evaluation of a memory game the log-odds of the answer, and how fast the optimizer could raise them: test/slope',
  ),
};

/** Keys whose defaults are memory-rl's. */
export const trainKeys = {
  ...environmentKeys,
  env_type: memory.envType,
  ...within('dataset_builder', {
    N: memory.N,
    ...memory.rewardKeys,
    fixed_secret: memory.secretKeys.fixed_secret,
  }),
  answer_format: memory.answerFormat,
  answer_parsing: memory.answerParsing,
  dataset_seed: memory.secretKeys.dataset_seed,
  use_standard_prefix: memory.standardPrefixKey,
  load_checkpoint_path: memoryLoadPath,
  stop_memorised: memory.stopMemorised,
  ...within('dataset_builder', {
    batch_size: key(int(1), 1, 'groups per step'),
    group_size: key(int(1), 4, 'episodes per group, at least 2'),
    n_batches: key(int(0), 1000, 'steps; more than a finished run had continues it'),
  }),
  learning_rate: {
    ...key(float(0), 4e-5, 'learning rate of Adam (betas 0.9, 0.95), constant. Left out, with a warm-up by name: 1e-4'),
    follows: true,
  },
  ...descentKeys,
  reward: rewardKey,
  loss_fn: {
    ...key(
      nameOrPath(lossFns),
      'importance_sampling',
      'loss per token: one of these, or the path of a module with your own',
    ),
    alias: 'objective',
  },
  ...within('loss_fn_config', {
    clip_low_threshold: key(orNone(float(0)), null, 'lower bound of the ratio; None: 0.8 for ppo, 0 for cispo'),
    clip_high_threshold: key(orNone(float(0)), null, 'upper bound of the ratio; None: 1.2 for ppo, 4 for cispo'),
    beta: key(float(0), 0.05, 'pull towards the sampler (dro)'),
  }),
  advantages: key(
    oneOf(advantageEstimators),
    'trajectory',
    'reward credited to a turn: that of the whole episode, its own, or its own and later ones',
  ),
  advantage_scale: key(oneOf(scales), 'none', 'std divides advantages by the standard deviation of their group (GRPO)'),
  loss_normalization: key(
    oneOf(normalizations),
    'sum',
    'sum of the losses of all tokens; grpo: mean over sequences of their token means; dr_grpo: by the longest answer of a group; token_mean: mean over all tokens of the batch',
  ),
  kl_coef: key(float(0), 0, `${klCoefficient} by kl_estimator; 0: none`),
  kl_estimator: klEstimatorKey('k3'),
  kl_penalty_coef: klPenaltyKey,
  kl_discount_factor: klDiscountKey,
  entropy_coef: key(float(0), 0, 'bonus per nat of entropy of each generated token, in steps that update'),
  skip_constant_groups: key(
    bool,
    false,
    'groups whose rewards are all equal train nothing; a step of only such groups is no Adam step',
  ),
  num_substeps: key(int(1), 1, 'Adam steps per batch, each on a part of its episodes'),
  compute_post_kl: key(
    bool,
    false,
    'measure after each batch how far its updates moved the policy on its own tokens: kl_pre_post_v1 and v2',
  ),
  max_step_kl: key(
    orNone(float(0)),
    null,
    'an update that moves the policy further on its own episodes (nats per episode) is halved until it does not; None: no bound',
  ),
  temperature: key(float(0.01), 1, 'softmax temperature of the policy, in sampling and in training'),
  max_tokens: key(int(1), 8, 'maximum tokens of an answer, per turn'),
  eval_every: key(int(0), 10, 'steps between evaluations, 0 for none'),
  eval_early: key(
    bool,
    false,
    'evaluate at steps 1, 2, 4, 8 … as well, where curves over the logarithm of the episodes are thin',
  ),
  eval_bits: memory.testBits,
  eval_distribution: key(
    bool,
    false,
    'measure the probability of every number below N at each evaluation (single_step)',
  ),
  probe: probeKey,
  test_n_batches: key(
    orNone(int(0)),
    null,
    'batches of test episodes per evaluation; None: a tenth of n_batches, at least 10',
  ),
  observer: key(
    bool,
    false,
    'follow what an ideal observer of the same guesses and rewards knows: observer/bits_known',
  ),
  log_episodes: key(bool, false, 'write guess and reward of every episode to episodes.jsonl, for memrl observer'),
  log_every: key(int(1), 1, 'steps between rows of metrics.jsonl; a row holds means over the steps since the last'),
  save_every: key(int(0), 20, 'steps between checkpoints, 0 for only the last'),
  log_path: logPath,
  model_name: modelName,
  ...runKeys,
  seed,
  ...loraKeys,
  ...foreignKeys,
};
export type TrainConfig = Config<typeof trainKeys>;

/**
 * Defaults for `tiny` with its warm-up: of secrets below 64 each run of 1,000 steps that was tried ended with more
 * than 5.9 of 6 bits (five with binary rewards, five with eight levels, four with a score for each bit). At the source
 * system's rate, which belongs to a model of 8 billion weights, seven with eight levels ended with 3.4 to 5.9.
 */
export const suitedTrain = { learning_rate: 1e-4 };

/** Keys that may differ from attempt to attempt. The initial weights may not when they are also the reference model. */
export function trainBudget(config: TrainConfig): ReadonlySet<string> {
  const names =
    'n_batches stop_memorised eval_early eval_every log_every save_every test_n_batches log_path load_checkpoint_path';
  const budget = new Set([...names.split(' '), ...runKeyNames]);
  if (hasReference(config)) budget.delete('load_checkpoint_path');
  return budget;
}

/** Whether a reference model, the model at the start, is needed. */
export function hasReference({ kl_coef: pull, kl_penalty_coef: penalty }: TrainConfig): boolean {
  return pull > 0 || penalty > 0;
}

const ofMemory = [
  ...['env_type', 'N', 'reward_type', 'reward_bins', 'fixed_secret', 'answer_format', 'answer_parsing', 'dataset_seed'],
  ...['use_standard_prefix', 'stop_memorised', 'eval_bits', 'eval_distribution', 'observer', 'log_episodes'],
];

/** @throws UserError for a key of the memory games where another environment is played, and the reverse. */
export function requireFitting({ config, given }: Arguments<typeof trainKeys>): void {
  const isMemory = config.environment === 'memory';
  const stray = (isMemory ? ['environment_params', 'reward'] : ofMemory).find((name) => given.has(name));
  if (stray === undefined) return;
  throw new UserError(
    `${stray} has no effect with environment=${config.environment}.`,
    isMemory
      ? 'Leave it out; the memory games have reward_type, N and keys of their own.'
      : 'Leave it out: it is a key of the memory games.',
  );
}

/** Messages at the start of a run. */
export function announcementOf(config: TrainConfig, { name, size }: Environment): string[] {
  const { N, n_batches: n, batch_size: batch, group_size: group } = config;
  const volume = `${n} steps × ${batch} groups × ${group} episodes`;
  if (config.environment !== 'memory')
    return [`environment ${name} · ${size === Infinity ? 'tasks without end' : `${size} tasks`} · ${volume}`];
  return [
    `${config.env_type} · N=${N} (${Math.log2(N).toFixed(2)} bits) · secret ${secretOf(config)}`,
    `channel: ${channel(config)} · ${volume}`,
  ];
}

function channel(config: TrainConfig): string {
  if (config.env_type === 'multi_step')
    return `${bitLength(config.N)} bits (1 per step), advantages=${config.advantages}`;
  if (config.reward_type === 'binary') return 'binary (1 bit max)';
  return config.reward_type === 'log_distance'
    ? 'log_distance (continuous)'
    : `binned_log_distance (B=${config.reward_bins})`;
}
