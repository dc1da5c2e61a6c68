import { UserError } from '../../base/user-error.js';
import { readArguments, writeValue, type Arguments } from '../config/arguments.js';
import type { Config } from '../config/key.js';
import type { AdapterConfig } from '../engine/adapters/config.js';
import { loraOnAll } from '../engine/adapters/config.js';
import type { Experiment } from '../rewards/experiment-fit.js';
import { experimentOf, readExperiment, withReward } from '../rewards/experiment.js';
import { dualLora, presetAdapters } from './adapter-presets.js';
import { grpoKeys } from './keys.js';
import type { RoutingMode } from './routing.js';

export type GrpoConfig = Config<typeof grpoKeys>;

/** What a run was told, by the command line and by its file. */
export type Settings = {
  readonly config: GrpoConfig;
  readonly experiment: Experiment;
  /** null: gradients are not routed. */
  readonly routing: RoutingMode | null;
  /** Fresh ones to train on the model; null: the model itself is trained. */
  readonly adapters: AdapterConfig | null;
};

/**
 * The settings of a run: those of the command line, then those under `training` of the file, then the defaults.
 *
 * @throws UserError for what does not fit together: nothing is guessed, and nothing falls back.
 */
export function settle({ config: said, given }: Arguments<typeof grpoKeys>): Settings {
  const experiment = experimentFor(said, given);
  const config = withTraining(said, given, experiment);
  if (config.batch_size % config.num_generations !== 0) {
    throw new UserError(
      `A batch of ${config.batch_size} completions is no whole number of groups of ${config.num_generations}.`,
      'Choose a batch_size that num_generations divides.',
    );
  }
  if (config.num_prompts * config.num_generations < config.batch_size) {
    throw new UserError(
      `A batch of ${config.batch_size} completions, ${config.num_generations} of each prompt, takes more than the ${config.num_prompts} prompts that are asked for.`,
      'Set a larger num_prompts, or a smaller batch_size.',
    );
  }
  const routing = routingOf(config);
  if (routing !== null && config.baseline !== null) {
    throw new UserError('A baseline is what routing is compared with.', 'Set gradient_routing or baseline, not both.');
  }
  if ((routing !== null || config.baseline !== null) && experiment.detector === null) {
    throw new UserError(
      `${experiment.source} has no rh_detector, and ${routing === null ? `baseline=${config.baseline}` : 'gradient routing'} needs flags.`,
      'Name one in the file, for example `rh_detector: {name: happy_count}`.',
    );
  }
  return { config, experiment, routing, adapters: adaptersOf(config, routing) };
}

/** Optimizer steps of a run. @param perEpoch Those of one pass over the prompts. */
export function stepsOf(config: Pick<GrpoConfig, 'max_steps' | 'num_epochs'>, perEpoch: number): number {
  return config.max_steps >= 0 ? config.max_steps : config.num_epochs * perEpoch;
}

function experimentFor(said: GrpoConfig, given: ReadonlySet<string>): Experiment {
  if (said.config === null) return experimentOf({ rewards: [said.reward ?? 'happy_binary'] });
  const routes = given.has('gradient_routing') || given.has('routing_mode');
  const routingMode = said.gradient_routing ? (said.routing_mode ?? 'shared') : 'none';
  const read = readExperiment(said.config, routes ? { routingMode } : {});
  return said.reward === null ? read : withReward(read, said.reward);
}

/** The file's settings, where the command line does not say otherwise. */
function withTraining(
  said: GrpoConfig,
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
  const read = placed(source, () => readArguments(grpoKeys, argv));
  const own = Object.fromEntries([...read.given].map((name) => [name, read.config[name as keyof GrpoConfig]]));
  return { ...said, ...own };
}

function placed<T>(source: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(`${source}: \`training\`: ${error.message}`, error.fix, { cause: error });
  }
}

function routingOf({ gradient_routing: routes, routing_mode: mode }: GrpoConfig): RoutingMode | null {
  if (routes && mode !== null) return mode;
  if (routes) {
    throw new UserError(
      'gradient_routing does not say what samples that are not flagged change.',
      'Add routing_mode=shared (both adapters) or routing_mode=exclusive (the retain adapter alone).',
    );
  }
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
      `lora_rank=${rank} is of one LoRA, and routing has two adapters.`,
      'Give retain_rank and forget_rank, or lora_config.',
    );
  }
  if (rank > 0) return [loraOnAll('lora', rank, rank)];
  if (routing === null) return null;
  if (preset !== null) return presetAdapters(preset);
  const { retain_rank: retain, forget_rank: forget, lora_alpha: alpha } = config;
  if (retain + forget === 0 || alpha === 0) {
    throw new UserError('These adapters could change nothing.', 'Give a rank above 0, and lora_alpha, too.');
  }
  return dualLora({ retain, forget, alpha, stride: 1 });
}
