import type { Config } from '../config/key.js';
import { writeValue } from '../config/arguments.js';
import type { Experiment } from '../rewards/experiment-fit.js';
import { grpoKeys } from './keys.js';

/** What says how often and where, and nothing of what is learnt; and what the name begins and ends with. */
const apart = new Set(
  'model config data log_path run_name reward seed lr logging_steps save_steps eval_routing_steps eval_samples eval_rewards engine threads keep_checkpoints tensorboard no_wandb wandb_project wandb_name'.split(
    ' ',
  ),
);

/**
 * The name of a run: its reward, each setting that is not the default, learning rate and seed. By the source system's rule: every
 * hyper-parameter that matters can be found in the name.
 */
export function runName(
  config: Config<typeof grpoKeys>,
  { name, reward }: Pick<Experiment, 'name' | 'reward'>,
): string {
  const first = name ?? reward.components.map(({ id }) => id).join('+');
  const settings = Object.entries(grpoKeys).flatMap(([name, { default: standard }]) => {
    const value = config[name as keyof typeof config];
    return apart.has(name) || value === standard ? [] : [`${name}${writeValue(value)}`];
  });
  const parts = [first, ...settings, `lr${writeValue(config.lr)}`, `s${config.seed}`];
  return parts.join('_').replace(/[^\w.+-]+/g, '-');
}
