import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../../base/user-error.js';
import { runFiles } from '../../../contract/files.js';
import { parseJsonLine } from '../../../contract/json-line.js';
import type { RewardEntry } from '../verdict.js';
import { trainerStateFile } from '../../run/history.js';
import { isDual } from '../../hugging-face/dual-lora.js';
import { isHuggingFace } from '../../hugging-face/directory.js';
import { storedEntries } from '../../hugging-face/stored-weights.js';
import { tokenizerFiles } from '../../hugging-face/tokenizer.js';
import { findModel, isOwn } from '../../run/model-files.js';
import { StoredRun } from './stored-run.js';
import { readJson } from '../../run/read-json.js';

/** The model that a path leads to, with its run. */
export type Subject = {
  /** The path as the user gave it. */
  readonly path: string;
  /** Directory of the model. */
  readonly directory: string;
  /** Run that the model is a checkpoint of; null when unknown. */
  readonly run: string | null;
  /** Optimizer steps the model had taken; null when unknown. */
  readonly step: number | null;
  /** Settings of its training. */
  readonly stored: StoredRun;
  /** Rewards that were logged up to that step, and the file they are from, or null. */
  readonly rewards: readonly RewardEntry[];
  readonly rewardsFrom: string | null;
};

const peftFiles = { config: 'adapter_config.json', tensors: 'adapter_model.safetensors' } as const;

/** @throws UserError when there is no model that writes stories, or its adapters cannot be determined. */
export function findSubject(path: string): Subject {
  refusePeft(path);
  const directory = findModel(path);
  refuseUnknown(directory);
  const run = runOf(path, directory);
  const step = stepOf(directory);
  return { path, directory, run, step, stored: run === null ? {} : storedRun(run), ...rewardsOf(directory, run, step) };
}

/** The initial model of the run: the path in its settings, relative to the directory where the run was started. */
export function baseOf({ run, stored }: Subject): string | null {
  const { model, log_path: logPath } = stored;
  if (run === null || model == null || model === '') return null;
  return resolve(startedIn(run, logPath ?? null), model);
}

/** The directory where a run was started: its own path less the relative path of its settings. */
function startedIn(run: string, logPath: string | null): string {
  const [place, tail] = [resolve(run), logPath === null ? null : relative('.', resolve('.', logPath))];
  if (tail === null || tail === '' || tail.startsWith('..') || !place.endsWith(`${sep}${tail}`)) return '.';
  return place.slice(0, -tail.length);
}

/** An adapter of PEFT does not contain the model beneath it; beside a model it would be silently ignored. */
function refusePeft(path: string): void {
  const name = Object.values(peftFiles).find((file) => existsSync(join(path, file)));
  if (name === undefined) return;
  if (isHuggingFace(path)) {
    throw new UserError(
      `${path} holds a model and an adapter of PEFT (${name}), and only one of them would be measured.`,
      `Merge them first: memrl model ${path} adapter=${path} output_dir=merged.`,
    );
  }
  throw new UserError(
    `${path} holds an adapter of PEFT (${name}) without the model that it is on.`,
    `Merge it into that model first: memrl model MODEL adapter=${path} output_dir=merged.`,
  );
}

function refuseUnknown(directory: string): void {
  if (isOwn(directory)) {
    if (existsSync(join(directory, tokenizerFiles.tokenizer))) return;
    throw new UserError(
      `${directory} is a checkpoint of the memory games: it has no ${tokenizerFiles.tokenizer}, and writes no stories.`,
      'Use memrl eval for it, or give a run of memrl grpo or memrl pretrain.',
    );
  }
  if (isDual(directory)) return;
  const stray = [...storedEntries(directory).keys()].find((name) => /\.(?:lora_|retain_|forget_)/.test(name));
  if (stray === undefined) return;
  throw new UserError(
    `${directory} holds adapters (the tensor ${stray}) and no adapters.json: a rank could be read from them, alpha and layers could not.`,
    'Merge them where they were trained, or train with memrl grpo, whose checkpoints say all of it.',
  );
}

function runOf(path: string, directory: string): string | null {
  if (directory !== path && existsSync(path)) return path;
  const folder = dirname(resolve(directory));
  const isInRun =
    basename(folder) === runFiles.checkpointDirectory && existsSync(join(dirname(folder), runFiles.checkpoints));
  if (!isInRun) return null;
  // The run as the user gave it: `RUN/checkpoint-2000`.
  return directory === path ? dirname(folder) : path.replace(/\/*checkpoint-\d+\/*$/, '') || '.';
}

const State = z.looseObject({ batch: z.int().nonnegative() });
const TrainerState = z.looseObject({
  global_step: z.int().nonnegative(),
  log_history: z.array(z.record(z.string(), z.unknown())),
});

function stepOf(directory: string): number | null {
  const state = State.safeParse(readJson(join(directory, 'state.json')));
  if (state.success) return state.data.batch;
  const trainer = TrainerState.safeParse(readJson(join(directory, trainerStateFile)));
  return trainer.success ? trainer.data.global_step : null;
}

function storedRun(run: string): StoredRun {
  const path = join(run, runFiles.config);
  if (!existsSync(path)) return {};
  const read = StoredRun.safeParse(readJson(path));
  if (read.success) return read.data;
  const { path: place, message } = read.error.issues[0]!;
  throw new UserError(
    `${path} does not describe the run, at \`${place.join('.')}\`: ${message}.`,
    'Put back the file that the run wrote, or give a checkpoint that lies elsewhere, with `config`.',
  );
}

/** Prefers the checkpoint's own history, because the run's rows may continue past the checkpoint. */
function rewardsOf(
  directory: string,
  run: string | null,
  step: number | null,
): Pick<Subject, 'rewards' | 'rewardsFrom'> {
  const own = join(directory, trainerStateFile);
  const trainer = TrainerState.safeParse(readJson(own));
  if (trainer.success) return { rewards: entriesOf(trainer.data.log_history, null), rewardsFrom: own };
  const metrics = run === null ? null : join(run, runFiles.metrics);
  if (metrics === null || !existsSync(metrics)) return { rewards: [], rewardsFrom: null };
  const lines = readFileSync(metrics, 'utf8').split('\n');
  const rows = lines.map(parseJsonLine).filter((row) => row !== null);
  return { rewards: entriesOf(rows, step), rewardsFrom: metrics };
}

function entriesOf(rows: readonly Record<string, unknown>[], last: number | null): RewardEntry[] {
  return rows.flatMap(({ step, reward }) =>
    typeof step === 'number' && typeof reward === 'number' && step <= (last ?? Infinity) ? [{ step, reward }] : [],
  );
}
