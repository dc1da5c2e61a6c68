/**
 * `memrl arithmetic`: from no model at all to sums of two numbers that are mostly right, in some minutes without a
 * GPU.
 *
 * A new model of 105,000 weights first learns the format of an answer and some of the sums from examples; then the
 * loop of `memrl rl` improves it from rewards alone.
 */
import { join } from 'node:path';
import { readArguments } from '../config/arguments.js';
import { key, withDefaults, type Config } from '../config/key.js';
import { int } from '../config/value-type.js';
import { rl } from '../algorithms/rl.js';
import { rlKeys } from '../algorithms/rl-settings.js';
import { sft, sftKeys } from '../algorithms/sft.js';
import { openRunDirectory } from '../run/run-directory.js';
import { openRun, type Ending, type Run } from '../run/runner.js';

export const arithmeticKeys = {
  ...withDefaults(rlKeys, {
    model_name: 'tiny',
    environment: 'arithmetic',
    environment_params: '{"max":9}',
    groups_per_batch: 64,
    group_size: 16,
    learning_rate: 3e-4,
    lr_schedule: 'linear',
    lora_rank: 0,
    n_batches: 300,
  }),
  warmup_examples: key(int(64), 23_000, 'right answers that a new model learns from first, 64 at a time'),
};

export async function arithmetic(config: Config<typeof arithmeticKeys>, run: Run): Promise<Ending> {
  if (config.model_name !== arithmeticKeys.model_name.default || config.load_checkpoint_path !== null) {
    return rl(config, run);
  }
  const base = openRun(openRunDirectory(join(run.directory.path, 'base')), run.context);
  const { config: taught } = readArguments(sftKeys, [
    ...[`environment=${config.environment}`, `environment_params=${config.environment_params ?? 'None'}`],
    ...[
      `model_name=${config.model_name}`,
      `seed=${config.seed}`,
      'batch_size=64',
      'learning_rate=3e-3',
      'load_checkpoint_path=none',
    ],
    ...[`num_examples=${config.warmup_examples}`, 'eval_every=0', `threads=${config.threads ?? 'None'}`],
  ]);
  const ending = await sft(taught, '', base);
  return ending.kind === 'stopped' ? ending : rl({ ...config, load_checkpoint_path: base.directory.path }, run);
}
