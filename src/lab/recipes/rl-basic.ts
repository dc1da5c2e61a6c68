/**
 * `memrl rl_basic`: the first recipe of tinker-cookbook, GSM8K by reinforcement learning. It is `memrl rl` with other defaults:
 *
 *   memrl rl_basic model_name=DIRECTORY environment.path=gsm8k/train.parquet environment.test_path=gsm8k/test.parquet
 */
import { rlKeys } from '../algorithms/rl-settings.js';
import { withDefaults } from '../config/key.js';

export const rlBasicKeys = withDefaults(rlKeys, {
  environment: 'gsm8k',
  groups_per_batch: 128,
  group_size: 16,
  learning_rate: 4e-5,
  max_tokens: 256,
  eval_every: 0,
});
