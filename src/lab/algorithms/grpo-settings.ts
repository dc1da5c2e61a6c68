/** Settings of `memrl grpo`: from the command line, and from a file with its reward and detector. */
import { UserError } from '../../base/user-error.js';
import { readArguments, writeValue, type Arguments } from '../config/arguments.js';
import { inertKey, key, type Config } from '../config/key.js';
import { moduleName } from '../config/own-module.js';
import { runKeyNames, runKeys } from '../config/run-keys.js';
import { bool, float, int, nameOrPath, oneOf, orNone, text } from '../config/value-type.js';
import { loraOnAll, type AdapterConfig } from '../engine/adapters/config.js';
import { lossFns } from '../objectives/objectives.js';
import type { Experiment } from '../rewards/experiment-fit.js';
import { experimentOf, readExperiment, withReward } from '../rewards/experiment.js';
import { ablatedPools } from '../rewards/scores.js';
import { adapterPresets, dualLora, presetAdapters, routingModes, type RoutingMode } from '../service/dual-adapters.js';
import { klCoefficient, klEstimatorKey } from './kl-keys.js';
import { probeKey } from './own-parts.js';
import { environmentKeys } from './train-settings.js';

/** Treatments of flagged completions when gradients are not routed; small-rl's names. */
const baselines = ['filter', 'reward_penalty', 'retain_penalty'] as const;
export type Baseline = (typeof baselines)[number];

/** small-rl's train.py, with the settings that were validated there as defaults: its own are batch_size 8, num_generations 8, beta 0.1 and one epoch. */
export const grpoKeys = {
  model: key(
    text,
    '',
    'the model to begin with: a run of memrl pretrain, one of its checkpoints, or a directory of Hugging Face. Left out: the run of `memrl pretrain` without arguments',
  ),
  reward: key(
    orNone(text),
    null,
    'a reward of the registry, or the path of a module with your own; None: the one of `config`, else happy_binary',
  ),
  config: key(orNone(text), null, 'YAML file with reward and detector'),
  environment: key(
    text,
    'stories',
    'environment: stories (prompts are beginnings to continue), arithmetic, or the path of a module with your own; environments other than stories have rewards of their own, which `reward` and `config` replace',
  ),
  environment_params: environmentKeys.environment_params,
  data: key(
    orNone(text),
    null,
    'stories for prompts: a text, JSONL or parquet file; None: the corpus of memrl pretrain',
  ),
  log_path: {
    ...key(orNone(text), null, 'run directory; an existing run there is continued. None: output/RUN_NAME'),
    alias: 'output_dir',
  },
  run_name: key(orNone(text), null, 'None: made of the reward and every setting that is not the default'),
  num_prompts: key(int(1), 10_000, 'different prompts to train on'),
  eval_prompts: key(int(0), 1_000, 'different prompts for evaluations, from other stories'),
  prompt_length: key(int(1), 8, 'tokens of a prompt: the first ones of a story'),
  max_completion_length: key(int(1), 128, 'maximum tokens of a completion'),
  batch_size: key(int(2), 32, 'completions of a step; num_generations divides it'),
  num_generations: key(int(2), 16, 'completions of each prompt, compared with each other'),
  temperature: key(float(1e-6), 1, 'softmax temperature of the policy, in sampling and in training'),
  repetition_penalty: key(
    float(1e-6),
    1,
    'repetition penalty: scores of earlier tokens are divided by it (multiplied if below 0); 1: none',
  ),
  lr: key(
    float(0),
    1e-5,
    'learning rate at the first step; falls linearly to 0. LoRA wants 10 to 30 times that of full training',
  ),
  beta: key(float(0), 0.02, `${klCoefficient} by kl_estimator; 0: none`),
  kl_estimator: klEstimatorKey('k3'),
  objective: key(
    nameOrPath(lossFns),
    'ppo',
    'loss per token: one of these (ppo clips the ratio to 0.8 and 1.2), or the path of a module with your own',
  ),
  num_epochs: key(int(1), 1, 'passes over the prompts, where max_steps is -1'),
  max_steps: key(int(-1), 2_000, 'optimizer steps; -1: as many as num_epochs make'),
  seed: key(int(0), 42, 'seed of prompts, their order, sampling, labels and fresh adapters'),
  lora_rank: key(
    int(0),
    0,
    'rank (and alpha) of one LoRA on all projections, without routing; 0: all weights are trained. The baseline of routing has retain_rank + forget_rank',
  ),
  gradient_routing: key(bool, false, 'two adapters; samples that the detector flags change the forget adapter alone'),
  routing_mode: key(
    orNone(oneOf(routingModes)),
    null,
    'adapters trained on samples that are not flagged: both (shared) or the retain adapter alone (exclusive). None: shared, if gradient_routing is set',
  ),
  retain_rank: key(int(0), 4, 'rank of the retain adapter'),
  forget_rank: key(int(0), 4, 'rank of the forget adapter'),
  lora_alpha: key(float(0), 16, 'the output of both is multiplied by alpha / its rank'),
  lora_config: key(
    orNone(oneOf(adapterPresets)),
    null,
    'ranks, alpha and layers of the two adapters by a name: r8 is rank 8 for both, r32f4 retain 32 and forget 4, r1h every other layer, m16 two nets of 16 neurons',
  ),
  base_reward: key(
    orNone(text),
    null,
    'reward of completions that are not eligible for the full one (rh_eligible_frac)',
  ),
  rh_eligible_frac: key(float(0), 1, 'share of completions eligible for the full reward; needs base_reward'),
  routing_frac: key(float(0), 1, 'share of the eligible completions that may be flagged'),
  label_noise_frac: key(float(0), 0, 'share of completions flagged though the detector does not'),
  ablated_frac: key(float(0), 0, 'share of a pool of samples that is trained with the forget adapter switched off'),
  ablated_pool: key(
    oneOf(ablatedPools),
    'ground_truth_good',
    'that pool: samples the detector finds good, or samples that are not flagged',
  ),
  baseline: key(
    orNone(oneOf(baselines)),
    null,
    'instead of routing, flagged completions get an advantage of 0 (filter), a reward of 0 (reward_penalty), or that of the retain components alone (retain_penalty)',
  ),
  logging_steps: key(int(1), 10, 'steps between rows of metrics, and between samples in train.log'),
  save_steps: key(int(0), 500, 'steps between checkpoints; 0: only the last'),
  eval_routing_steps: key(
    int(0),
    100,
    'steps between evaluations on prompts of their own, with both adapters and with each alone; 0: none',
  ),
  eval_samples: key(int(1), 10, 'completions of an evaluation, in each mode'),
  eval_rewards: key(text, '', 'more rewards to measure in evaluations, with commas'),
  probe: probeKey,
  ...runKeys,
  no_wandb: inertKey(bool, false, 'files for W&B are written only where wandb_project is given'),
};
export type GrpoConfig = Config<typeof grpoKeys>;

/** Keys that may differ from attempt to attempt. max_steps may not: the learning rate falls to 0 at that step. */
export const grpoBudget = new Set([
  ...'log_path run_name logging_steps save_steps eval_routing_steps eval_samples eval_rewards eval_prompts probe'.split(
    ' ',
  ),
  ...['no_wandb', ...runKeyNames],
]);

/** Settings of the command line and of the file, with values derived from them. */
export type Settings = {
  readonly config: GrpoConfig;
  readonly experiment: Experiment;
  /** null when gradients are not routed. */
  readonly routing: RoutingMode | null;
  /** Fresh adapters to train; null trains the model itself. */
  readonly adapters: AdapterConfig | null;
};

/**
 * Merges the settings of a run: those of the command line, then those under `training` of the file, then the defaults.
 *
 * @throws UserError for settings that exclude each other.
 */
export function grpoSettings({ config: commandLine, given }: Arguments<typeof grpoKeys>): Settings {
  const experiment = experimentFor(commandLine, given);
  const merged = withTraining(commandLine, given, experiment);
  checkSizes(merged);
  const routing = routingOf(merged);
  const config = { ...merged, routing_mode: routing };
  if (routing !== null && config.baseline !== null) {
    throw new UserError(
      'gradient_routing and baseline cannot be combined: a baseline is a run without routing.',
      'Set gradient_routing or baseline, not both.',
    );
  }
  if ((routing !== null || config.baseline !== null) && experiment.detector === null) {
    throw new UserError(
      `${experiment.source} has no rh_detector, and ${routing === null ? `baseline=${config.baseline}` : 'gradient routing'} needs flags.`,
      'Name one in the file, for example `rh_detector: {name: happy_count}`.',
    );
  }
  checkShares(config, experiment);
  return { config, experiment, routing, adapters: adaptersOf(config, routing) };
}

/** Optimizer steps of a run. @param perEpoch Steps of one pass over the prompts. */
export function stepsOf(config: Pick<GrpoConfig, 'max_steps' | 'num_epochs'>, perEpoch: number): number {
  return config.max_steps >= 0 ? config.max_steps : config.num_epochs * perEpoch;
}

/** Keys left out of the middle of a run's name: budget and paths, and the parts the name begins and ends with. */
const leftOutOfName = new Set([...grpoBudget, 'model', 'config', 'data', 'reward', 'environment', 'seed', 'lr']);
/** Keys that are in every name, also at their defaults. */
const inEveryName = new Set(['batch_size', 'beta']);

/**
 * The name of a run: its reward, batch size and beta, each other setting that is not the default, learning rate and seed. By small-rl's rule: every
 * hyper-parameter that matters can be found in the name.
 */
export function runName(config: GrpoConfig, { name, reward }: Pick<Experiment, 'name' | 'reward'>): string {
  const rewarded = name ?? reward.components.map(({ id }) => id).join('+');
  const played = config.environment === 'stories' ? [] : [moduleName(config.environment)];
  const first = hasOwnReward(config) ? played : [...played, rewarded];
  const settings = Object.entries(grpoKeys).flatMap(([name, { default: standard }]) => {
    const value = config[name as keyof typeof config];
    const isNamed = inEveryName.has(name) || (!leftOutOfName.has(name) && value !== standard);
    return isNamed ? [`${name}${writeValue(value)}`] : [];
  });
  const parts = [...first, ...settings, `lr${writeValue(config.lr)}`, `s${config.seed}`];
  return parts.join('_').replace(/[^\w.+-]+/g, '-');
}

/** Whether the reward of the training is the environment's own. */
export function hasOwnReward({ environment, reward, config }: GrpoConfig): boolean {
  return environment !== 'stories' && reward === null && config === null;
}

function experimentFor(commandLine: GrpoConfig, given: ReadonlySet<string>): Experiment {
  if (hasOwnReward(commandLine)) return experimentOf({ detector: null });
  if (commandLine.config === null) return experimentOf({ rewards: [commandLine.reward ?? 'happy_binary'] });
  const routes = given.has('gradient_routing') || given.has('routing_mode');
  const routingMode = commandLine.gradient_routing ? (commandLine.routing_mode ?? 'shared') : 'none';
  const read = readExperiment(commandLine.config, routes ? { routingMode } : {});
  return commandLine.reward === null ? read : withReward(read, commandLine.reward);
}

/** The file's settings, except those that the command line sets. */
function withTraining(
  commandLine: GrpoConfig,
  given: ReadonlySet<string>,
  { training, source, routingMode }: Experiment,
): GrpoConfig {
  const settings = Object.entries(training).filter(([name]) => name !== 'routing_mode' && !given.has(name));
  const stray = settings.find(([name]) => ['config', 'reward'].includes(name));
  if (stray !== undefined) {
    throw new UserError(`${source}: \`training.${stray[0]}\` is not a setting of training.`, 'Remove it.');
  }
  const argv = settings.map(([name, value]) => `${name}=${writeValue(value)}`);
  if (routingMode !== null && !given.has('gradient_routing') && !given.has('routing_mode')) {
    argv.push(`gradient_routing=${writeValue(routingMode !== 'none')}`);
    if (routingMode !== 'none') argv.push(`routing_mode=${routingMode}`);
  }
  const read = withSource(source, () => readArguments(grpoKeys, argv));
  const own = Object.fromEntries([...read.given].map((name) => [name, read.config[name as keyof GrpoConfig]]));
  return { ...commandLine, ...own };
}

function withSource<T>(source: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(`${source}: \`training\`: ${error.message}`, error.fix, { cause: error });
  }
}

function checkSizes({ batch_size: batch, num_generations: copies, num_prompts: prompts }: GrpoConfig): void {
  if (batch % copies !== 0) {
    throw new UserError(
      `batch_size=${batch} is not a multiple of num_generations=${copies}.`,
      'Set batch_size to a multiple of num_generations.',
    );
  }
  if (prompts * copies < batch) {
    throw new UserError(
      `A batch of ${batch} completions, ${copies} of each prompt, needs more prompts than num_prompts=${prompts}.`,
      'Set a larger num_prompts, or a smaller batch_size.',
    );
  }
}

function routingOf({ gradient_routing: routes, routing_mode: mode }: GrpoConfig): RoutingMode | null {
  // The default is small-rl's: both adapters learn from samples that are not flagged.
  if (routes) return mode ?? 'shared';
  if (mode === null) return null;
  throw new UserError(
    `routing_mode=${mode} has no effect without gradient_routing.`,
    'Set gradient_routing=True, too.',
  );
}

function adaptersOf(config: GrpoConfig, routing: RoutingMode | null): AdapterConfig | null {
  const { lora_rank: rank, lora_config: preset } = config;
  if (rank > 0 && routing !== null) {
    throw new UserError(
      `lora_rank=${rank} is for a single LoRA, but gradient routing trains two adapters.`,
      'Give retain_rank and forget_rank, or lora_config.',
    );
  }
  if (rank > 0) return [loraOnAll('lora', rank, rank)];
  if (routing === null) return null;
  if (preset !== null) return presetAdapters(preset);
  const { retain_rank: retain, forget_rank: forget, lora_alpha: alpha } = config;
  if (retain + forget === 0 || alpha === 0) {
    throw new UserError(
      'These adapters have no effect: a rank above 0 and an alpha above 0 are needed.',
      'Give a rank above 0, and lora_alpha, too.',
    );
  }
  return dualLora({ retain, forget, alpha, stride: 1 });
}

/** Refuses shares above 1, and shares that would have no effect. @throws UserError */
function checkShares(config: GrpoConfig, { reward }: Experiment): void {
  for (const name of ['rh_eligible_frac', 'routing_frac', 'label_noise_frac', 'ablated_frac'] as const) {
    if (config[name] <= 1) continue;
    throw new UserError(`${name}=${config[name]} is not between 0 and 1.`, 'Give it a number from 0 to 1.');
  }
  const hasBase = config.base_reward !== null || reward.components.some(({ role }) => role === 'forget');
  if (config.rh_eligible_frac < 1 && !hasBase) {
    throw new UserError(
      `rh_eligible_frac=${config.rh_eligible_frac} gives the other completions a reward without the hack, but no such reward is set.`,
      'Give base_reward, or a `config` whose reward has components of role retain and forget.',
    );
  }
  checkLabelShares(config);
}

function checkLabelShares(config: GrpoConfig): void {
  const isLabelled = config.gradient_routing || config.baseline !== null;
  const needLabels = ['routing_frac', 'label_noise_frac', 'ablated_frac'] as const;
  const stray = isLabelled ? undefined : needLabels.find((name) => config[name] !== (name === 'routing_frac' ? 1 : 0));
  if (stray !== undefined) {
    throw new UserError(
      `${stray}=${config[stray]} applies to flagged completions, but nothing is flagged.`,
      'Set gradient_routing or a baseline, or leave it out.',
    );
  }
  if (config.ablated_frac > 0 && !config.gradient_routing) {
    throw new UserError('ablated_frac needs an adapter to switch off.', 'Set gradient_routing, or leave it out.');
  }
}
