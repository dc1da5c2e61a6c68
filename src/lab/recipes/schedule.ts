import type { Schedule } from '../run/run-recipe.js';
import { wandbRun } from '../run/wandb-file.js';

/** What recipes are told of when they measure, write and save, by its keys. */
type Asked = Parameters<typeof wandbRun>[0] & {
  readonly eval_every: number;
  readonly log_every: number;
  readonly save_every: number;
  readonly keep_checkpoints: number | null;
  readonly tensorboard: boolean;
};

/** @param batches Steps of the whole run. */
export function scheduleOf(config: Asked, batches: number): Schedule {
  return {
    batches,
    evalEvery: config.eval_every,
    logEvery: config.log_every,
    saveEvery: config.save_every,
    keep: config.keep_checkpoints,
    tensorboard: config.tensorboard,
    wandb: wandbRun(config),
  };
}
