/**
 * Opens the environment and model of an algorithm that can run on either kind: a memory game, or an environment of
 * texts with its reward.
 */
import type { Environment } from '../environments/environment.js';
import { buildMemoryEnvironment, isMemoryEnvironment } from '../environments/memory/memory-environment.js';
import { openEnvironment, type EnvironmentName } from '../environments/open-environment.js';
import { characterFiles, characterTokenizer } from '../hugging-face/character-tokenizer.js';
import type { Run } from '../run/runner.js';
import { weightsOf } from './first-weights.js';
import { answerSlope } from '../probes/answer-slope.js';
import type { Probe } from '../probes/evaluator.js';
import type { OptimizerName } from '../service/descent.js';
import type { EngineService } from '../service/engine-service.js';
import { withReward } from './own-parts.js';
import { openProbes } from '../probes/own-probe.js';
import { directoryIn, openService, textTokenizer } from '../service/open-model.js';

/** `files`: the vocabulary that checkpoints hold; null: that of the memory games, which every model here knows. */
type OpenedEnvironment = { readonly environment: Environment; readonly files: ReadonlyMap<string, string> | null };

type EnvironmentConfig = EnvironmentName &
  Parameters<typeof buildMemoryEnvironment>[0] & {
    readonly reward: string | null;
    readonly model_name: string;
    readonly load_checkpoint_path: string | null;
  };

/** An existing model keeps its vocabulary; a new one for texts gets a vocabulary of characters. @throws UserError */
export async function openRunEnvironment(config: EnvironmentConfig, { resumed }: Run): Promise<OpenedEnvironment> {
  if (config.environment === 'memory') return { environment: buildMemoryEnvironment(config), files: null };
  const model = resumed?.path ?? config.load_checkpoint_path ?? directoryIn(config.model_name);
  const { tokenizer, files } =
    model === null ? { tokenizer: characterTokenizer, files: characterFiles } : textTokenizer(model);
  const environment = await openEnvironment(config, tokenizer, ['memory']);
  return { environment: await withReward(environment, config.reward, tokenizer), files };
}

type PolicyConfig = Omit<Parameters<typeof openService>[0], 'tokenizer'> &
  Parameters<typeof weightsOf>[1] & {
    readonly probe: string | null;
    readonly optimizer: OptimizerName;
    readonly log_slope: boolean;
  };

/**
 * Opens the policy and its probes.
 *
 * @returns `source`: the options to open a reference model with. `companions`: the tokenizer's files, which
 * transformers needs beside the weights of each checkpoint. Or the signal that interrupted the warm-up that makes the
 * initial weights.
 */
export async function openRunPolicy(config: PolicyConfig, { environment, files }: OpenedEnvironment, run: Run) {
  const { tokenizer } = environment;
  const own = await openProbes(config.probe, tokenizer);
  const weights = await weightsOf(config.load_checkpoint_path, config, run.context);
  if (typeof weights === 'string') return weights;
  const source = {
    ...config,
    load_checkpoint_path: weights.path,
    tokenizer,
    ...(files !== null && { fresh: { vocabulary: tokenizer.size } }),
  };
  const service = await openService(source, run, config.optimizer);
  const probes = [...own, ...(await slopeProbe(config, environment, { source, service, run }))];
  const companions = files === null ? undefined : { shape: service.engine.shape, files };
  return { source, service, companions, probes };
}

type OpenedPolicy = {
  readonly source: Parameters<typeof openService>[0];
  readonly service: EngineService;
  readonly run: Run;
};

/** The probe of `log_slope`, which knows the weights at the start of the run also when that is resumed. */
async function slopeProbe(
  { optimizer, log_slope: isAsked }: PolicyConfig,
  environment: Environment,
  { source, service, run }: OpenedPolicy,
): Promise<Probe[]> {
  if (!isAsked || !isMemoryEnvironment(environment)) return [];
  const quiet = { ...run.context, log: () => undefined };
  const fresh = run.resumed === null ? service : await openService(source, { ...run, context: quiet, resumed: null });
  const start = await fresh.weights();
  return [() => answerSlope(service, environment.solution(), { optimizer, start })];
}
