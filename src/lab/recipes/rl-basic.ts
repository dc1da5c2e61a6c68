/**
 * `memrl rl_basic`: the first recipe of tinker-cookbook, GSM8K by reinforcement learning. It is `memrl rl` with other defaults:
 *
 *   memrl rl_basic model_name=DIRECTORY environment.path=gsm8k/train.parquet environment.test_path=gsm8k/test.parquet
 */
import { UserError } from '../../base/user-error.js';
import { rl } from '../algorithms/rl.js';
import { rlKeys } from '../algorithms/rl-settings.js';
import { withDefaults, type Config } from '../config/key.js';
import type { Ending, Run } from '../run/runner.js';

/** @throws UserError with the command to type when there is no model, or no data. */
export async function rlBasic(config: Config<typeof rlBasicKeys>, run: Run): Promise<Ending> {
  if (config.model_name !== '' || config.load_checkpoint_path !== null) return rl(config, run);
  throw new UserError(
    'There is no model to train: Llama-3.1-8B, which this recipe names in tinker-cookbook, is too large to be computed here.',
    'Type `memrl rl_basic model_name=DIR environment.path=train.parquet environment.test_path=test.parquet`, with a LLaMA model of Hugging Face and GSM8K; or `memrl arithmetic`, which makes its own of both.',
  );
}

export const rlBasicKeys = withDefaults(rlKeys, {
  environment: 'gsm8k',
  groups_per_batch: 128,
  group_size: 16,
  learning_rate: 4e-5,
  max_tokens: 256,
  eval_every: 0,
});
