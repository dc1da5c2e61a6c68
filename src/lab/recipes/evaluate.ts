import { UserError } from '../../base/user-error.js';
import type { Config } from '../config/key.js';
import { Evaluator } from '../probes/evaluator.js';
import type { Row } from '../run/metrics-file.js';
import type { ProcessContext } from '../run/process-context.js';
import { buildGame } from './build-game.js';
import type { evalKeys } from './keys.js';
import { openModel } from '../service/open-model.js';

/** Measures saved weights: bits known, the greedy answer, sampled accuracy. */
export async function evaluate(config: Config<typeof evalKeys>, world: ProcessContext): Promise<Row> {
  const path = config.load_checkpoint_path;
  if (path === null) {
    throw new UserError(
      'There is nothing to evaluate.',
      'Set load_checkpoint_path to a run directory or a checkpoint.',
    );
  }
  const environment = buildGame(config);
  const { tokenizer } = environment;
  const source = { ...config, model_name: 'tiny', load_checkpoint_path: path, resumed: null, tokenizer };
  const engine = await openModel(source, world);
  const test = { groups: config.episodes, groupSize: 1, maxTokens: config.max_tokens };
  return new Evaluator(engine, { environment, test, bits: true, seed: config.seed, constants: {} }).evaluate(0);
}
