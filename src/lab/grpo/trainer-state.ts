import { existsSync, readFileSync } from 'node:fs';

/** The file in which transformers' Trainer keeps its history: what small-rl's scripts read rewards from. */
export const trainerStateFile = 'trainer_state.json';

/**
 * Name and text of that file for a checkpoint.
 *
 * @param metrics The run's rows. @param steps Optimizer steps taken, and @param most those of the whole run.
 */
export function trainerState(metrics: string, steps: number, most: number): [name: string, text: string] {
  const lines = existsSync(metrics) ? readFileSync(metrics, 'utf8').trimEnd().split('\n') : [];
  const history = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
  const state = { global_step: steps, max_steps: most, epoch: history.at(-1)?.['epoch'] ?? 0, log_history: history };
  return [trainerStateFile, `${JSON.stringify(state, null, 2)}\n`];
}
