/**
 * Files that small-rl's users and scripts read: `train.log` (`grep '\[Sample @' train.log`) and transformers'
 * `trainer_state.json`.
 */
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { RunDirectory } from './run-directory.js';

const trainLogFile = 'train.log';
/** The file in which transformers' Trainer keeps its history: small-rl's scripts read rewards from it. */
export const trainerStateFile = 'trainer_state.json';

export type History = {
  /** Appends a line to `train.log`, by one write. Lines must be reproducible, without times. */
  readonly append: (line: string) => void;
  /** Length of `train.log`. */
  readonly bytes: () => number;
  /** @param steps Optimizer steps taken when the completion was trained on. */
  readonly sampleLine: (steps: number, sample: { readonly prompt: string; readonly text: string }) => string;
  /** Name and text of that file for a checkpoint. @param steps Optimizer steps taken, and @param most those of the whole run. */
  readonly trainerState: (steps: number, most: number) => readonly [name: string, text: string];
};

/**
 * @param bytes Length of `train.log` when the checkpoint was saved that the run resumes from; later lines are written
 * again. null when unknown.
 */
export function openHistory({ path, metrics }: RunDirectory, bytes: number | null): History {
  const log = join(path, trainLogFile);
  const length = () => (existsSync(log) ? statSync(log).size : 0);
  if (bytes !== null && length() > bytes) truncateSync(log, bytes);
  return {
    append: (line) => appendFileSync(log, `${line}\n`),
    bytes: length,
    sampleLine: (steps, { prompt, text }) => `[Sample @ step ${steps}] ${oneLine(prompt)} ||| ${oneLine(text)}`,
    trainerState: (steps, most) => {
      const lines = existsSync(metrics) ? readFileSync(metrics, 'utf8').trimEnd().split('\n') : [];
      const rows = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
      const state = { global_step: steps, max_steps: most, epoch: rows.at(-1)?.['epoch'] ?? 0, log_history: rows };
      return [trainerStateFile, `${JSON.stringify(state, null, 2)}\n`];
    },
  };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
