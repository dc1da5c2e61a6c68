/**
 * Opens the environment and model of an algorithm that can run on either kind: a memory game, or an environment of
 * texts with its reward.
 */
import type { Environment } from '../environments/environment.js';
import { buildMemoryEnvironment } from '../environments/memory/memory-environment.js';
import { openEnvironment, type EnvironmentName } from '../environments/open-environment.js';
import { characterFiles, characterTokenizer } from '../hugging-face/character-tokenizer.js';
import { combineRewards, rewardedBy } from '../rewards/scores.js';
import { findReward } from '../rewards/registry.js';
import { moduleName } from '../config/own-module.js';
import type { Run } from '../run/runner.js';
import { weightsOf } from './first-weights.js';
import { openProbes } from '../probes/own-probe.js';
import { directoryIn, openService, textTokenizer } from '../service/open-model.js';

/** `files`: the vocabulary that checkpoints hold; null: that of the memory games, which every model here knows. */
type Played = { readonly environment: Environment; readonly files: ReadonlyMap<string, string> | null };

type PlayedConfig = EnvironmentName &
  Parameters<typeof buildMemoryEnvironment>[0] & {
    readonly reward: string | null;
    readonly model_name: string;
    readonly load_checkpoint_path: string | null;
  };

/** An existing model keeps its vocabulary; a new one for texts gets a vocabulary of characters. @throws UserError */
export async function openPlayed(config: PlayedConfig, { resumed }: Run): Promise<Played> {
  if (config.environment === 'memory') return { environment: buildMemoryEnvironment(config), files: null };
  const model = resumed?.path ?? config.load_checkpoint_path ?? directoryIn(config.model_name);
  const { tokenizer, files } =
    model === null ? { tokenizer: characterTokenizer, files: characterFiles } : textTokenizer(model);
  const environment = await openEnvironment(config, tokenizer, ['memory']);
  if (config.reward === null) return { environment, files };
  const reward = await findReward(config.reward, {}, tokenizer);
  const component = { id: moduleName(config.reward), role: 'retain', scale: 1, reward } as const;
  const rewarded = rewardedBy(environment, combineRewards([component], { maxReward: null, normalize: false }));
  return { environment: rewarded.environment, files };
}

type PlayerConfig = Omit<Parameters<typeof openService>[0], 'tokenizer'> &
  Parameters<typeof weightsOf>[1] & { readonly probe: string | null };

/**
 * Opens the policy and its probes.
 *
 * @returns `source`: the options to open a reference model with. `companions`: the tokenizer's files, which
 * transformers needs beside the weights of each checkpoint. Or the signal that interrupted the warm-up that makes the
 * initial weights.
 */
export async function openPlayer(config: PlayerConfig, { environment: { tokenizer }, files }: Played, run: Run) {
  const probes = await openProbes(config.probe, tokenizer);
  const weights = await weightsOf(config.load_checkpoint_path, config, run.context);
  if (typeof weights === 'string') return weights;
  const source = {
    ...config,
    load_checkpoint_path: weights.path,
    tokenizer,
    ...(files !== null && { fresh: { vocabulary: tokenizer.size } }),
  };
  const service = await openService(source, run);
  const companions = files === null ? undefined : { shape: service.engine.shape, files };
  return { source, service, companions, probes };
}
