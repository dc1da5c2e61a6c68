import { UserError } from '../../base/user-error.js';
import { key, type Config } from '../config/key.js';
import { runKeys, seed } from '../config/run-keys.js';
import { int, orNone, text } from '../config/value-type.js';
import { buildMemoryEnvironment } from '../environments/memory/memory-environment.js';
import * as memory from '../environments/memory/keys.js';
import { Evaluator } from '../probes/evaluator.js';
import type { Row } from '../run/metrics-file.js';
import type { ProcessContext } from '../run/process-context.js';
import { EngineService } from '../service/engine-service.js';
import { openModel } from '../service/open-model.js';

/** Keys of `memrl eval`, which measures saved weights. */
export const evalKeys = {
  load_checkpoint_path: key(orNone(text), null, 'a run directory, a checkpoint, or a directory of Hugging Face'),
  env_type: memory.envType,
  N: memory.N,
  ...memory.rewardKeys,
  answer_format: memory.answerFormat,
  answer_parsing: memory.answerParsing,
  ...memory.secretKeys,
  use_standard_prefix: memory.standardPrefixKey,
  max_tokens: key(int(1), 8, 'maximum tokens of an answer, per turn'),
  episodes: key(int(0), 400, 'sampled episodes'),
  engine: runKeys.engine,
  threads: runKeys.threads,
  seed,
};

/** Measures saved weights: bits known, the greedy answer, sampled accuracy. */
export async function evaluate(config: Config<typeof evalKeys>, context: ProcessContext): Promise<Row> {
  const path = config.load_checkpoint_path;
  if (path === null) {
    throw new UserError(
      'There is nothing to evaluate.',
      'Set load_checkpoint_path to a run directory or a checkpoint.',
    );
  }
  const environment = buildMemoryEnvironment(config);
  const { tokenizer } = environment;
  const source = { ...config, model_name: 'tiny', load_checkpoint_path: path, resumed: null, tokenizer };
  const service = new EngineService(await openModel(source, context));
  const test = { groups: config.episodes, groupSize: 1, maxTokens: config.max_tokens };
  return new Evaluator(service, { environment, test, bits: true, seed: config.seed, constants: {} }).evaluate(0);
}
