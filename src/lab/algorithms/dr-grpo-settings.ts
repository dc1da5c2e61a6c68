/** Settings of `memrl dr-grpo`. */
import { key, type Config } from '../config/key.js';
import { loadPath, logPath, loraKeys, runKeyNames, runKeys, seed } from '../config/run-keys.js';
import { bool, float, floats, int, nameOrPath, namesOf, oneOf, orNone, text } from '../config/value-type.js';
import { lossFns } from '../objectives/objectives.js';
import { probeNames } from '../probes/step-probes.js';
import { klCoefficient, klEstimatorKey } from './kl-keys.js';
import { probeKey, rewardKey } from './own-parts.js';
import { rlKeys, trainedKeys } from './rl-settings.js';

/** Names are those of RL_Practice's configuration. */
export const drGrpoKeys = {
  cfg: key(orNone(text), null, 'YAML file with settings, by the names of these keys; those of the command line win'),
  model_name: trainedKeys.model_name,
  load_checkpoint_path: { ...loadPath, alias: 'ckpt' },
  tokenizer: trainedKeys.tokenizer,
  environment: rlKeys.environment,
  environment_params: rlKeys.environment_params,
  reward: rewardKey,
  num_tasks: key(int(1), 1024, 'number of tasks in the curriculum: the first ones of the environment'),
  buffer_size: key(int(1), 32, 'prompts per step, counting only groups that are kept'),
  num_generations: key(int(2), 8, 'answers to each prompt'),
  rollout_batch_size: key(int(1), 16, 'prompts sampled at a time, until enough groups are kept'),
  max_rounds: key(
    int(1),
    20,
    'maximum number of such sampling rounds; a step with too few groups by then trains on those it has',
  ),
  microbatch_size: key(
    int(1),
    8,
    'prompts per forward and backward pass; a step accumulates the gradients of buffer_size / this passes',
  ),
  ppo_epochs: key(int(1), 1, 'optimizer steps on each buffer, in an order of its own'),
  total_steps: key(int(0), 64, 'optimizer steps; more than a finished run had continues it'),
  max_new_tokens: key(int(1), 8, 'maximum tokens of an answer'),
  temperature: key(float(0.01), 0.7, 'softmax temperature of the policy, in sampling and in training'),
  reward_var_thresh: key(float(0), 0.01, 'minimum variance of the rewards for a group to be kept'),
  reject_all_zero: key(bool, true, 'drop groups whose rewards are all 0'),
  reject_all_max: key(bool, true, 'drop groups whose rewards are all equal and above 0'),
  ema_alpha: key(float(0), 0.01, 'share of a new result in the pass rate of its task'),
  boundaries: key(floats(0), [0.2, 0.8], 'pass rates below which a task is hard, and above which easy'),
  sample_weights: key(floats(0), [1, 1, 1], 'how often hard, normal and easy tasks are drawn'),
  lr: key(float(0), 1e-6, 'highest learning rate of AdamW (betas 0.9, 0.999)'),
  lr_scheduler: key(
    oneOf(['constant', 'cosine']),
    'constant',
    'learning rate after a linear warm-up over 5 % of the steps',
  ),
  weight_decay: key(float(0), 0.01, 'weight decay of matrices; norms do not decay'),
  grad_clip: key(float(1e-12), 1, 'maximum norm of the gradient'),
  objective: key(
    nameOrPath(lossFns),
    'ppo',
    'loss per token: one of these, which cut the ratio by clip_eps, or the path of a module with your own',
  ),
  clip_eps: key(float(0), 0.2, 'lower clip distance of the ratio from 1'),
  clip_eps_high: {
    ...key(orNone(float(0)), null, 'upper clip distance of the ratio from 1; None: clip_eps'),
    alias: 'clip_+',
  },
  kl_beta: key(float(0), 0, `${klCoefficient} by kl_estimator; 0: none`),
  kl_estimator: klEstimatorKey('k1'),
  probes: key(
    namesOf(probeNames),
    [],
    'probes of the steps: gns, the gradient noise scale from their microbatches; entropy, their effect on the entropy of the policy, measured and predicted; fisher, cosines of the gradients of answers to the same prompt and to others',
  ),
  probe_every: key(int(1), 1, 'steps between probes'),
  gns_prompts: key(
    int(0),
    0,
    'prompts that gns draws at each measurement, for the noise scale by two batch sizes: half of them one by one, and the mean of the others; 0: none',
  ),
  gns_ema: key(float(0), 0.9, 'share of earlier measurements in the means of both terms of the noise scale'),
  entropy_answers: key(int(2), 128, 'number of separately drawn answers to measure entropy on'),
  fisher_answers: key(int(2), 32, 'number of answers in the Fisher kernel: the first ones of the buffer'),
  save_ratios: key(bool, false, 'write logs/ratios.jsonl: the ratio of each token of each microbatch'),
  save_rollouts_every: key(int(0), 0, 'steps between those whose answers are written to logs/rollouts.jsonl, 0: none'),
  eval_every: key(int(0), 10, 'steps between evaluations, 0 for none'),
  eval_groups: rlKeys.eval_groups,
  probe: probeKey,
  num_groups_to_log: rlKeys.num_groups_to_log,
  rollout_json_export: rlKeys.rollout_json_export,
  log_every: key(int(1), 1, 'steps between rows of metrics.jsonl'),
  save_every: key(int(0), 10, 'steps between checkpoints, 0 for only the last'),
  ...runKeys,
  log_path: logPath,
  seed,
  ...loraKeys,
};
export type DrGrpoConfig = Config<typeof drGrpoKeys>;

/** Keys that may differ from attempt to attempt. */
export const drGrpoBudget: ReadonlySet<string> = new Set([
  ...'total_steps eval_every eval_groups save_every log_every probe num_groups_to_log rollout_json_export log_path'.split(
    ' ',
  ),
  ...'probes probe_every gns_prompts gns_ema entropy_answers fisher_answers save_ratios save_rollouts_every'.split(' '),
  ...runKeyNames,
]);
