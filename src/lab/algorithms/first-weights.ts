/**
 * The initial weights of a memory game when none are given: a warm-up, so that a run learns the secret and not the
 * format. Two warm-ups come with the program; one for another model, N or format is made when it is first needed, and
 * kept in the user's cache.
 */
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { UserError } from '../../base/user-error.js';
import { readArguments, type Arguments } from '../config/arguments.js';
import type { Config, Keys } from '../config/key.js';
import { WARMUP } from '../config/run-keys.js';
import { presets } from '../engine/model-shape.js';
import type { AnswerFormat } from '../environments/memory/answer-format.js';
import { readModel, findModel } from '../run/model-files.js';
import { makeDirectory } from '../run/make-directory.js';
import type { ProcessContext, StopSignal } from '../run/process-context.js';
import { openRunDirectory, keepConfig } from '../run/run-directory.js';
import { readJson } from '../run/read-json.js';
import { lockRun } from '../run/run-lock.js';
import { openRun } from '../run/runner.js';
import { isWarmupName, shippedFor, warmupNames, type WarmupName } from '../run/shipped-warmups.js';
import { directoryIn } from '../service/open-model.js';
import { warmup, warmupBudget, warmupKeys } from './warmup.js';

type Beginning = {
  readonly environment: string;
  readonly env_type?: keyof typeof warmupNames;
  readonly N: number;
  readonly model_name: string;
  readonly load_checkpoint_path: string | null;
};

/**
 * Resolves weights that were left open: to the name of the game's warm-up, or to null, which stands for random weights
 * or those of the model's directory.
 *
 * @param suited Settings for a run that begins with a warm-up by name, where they were not given. The defaults are
 * those of memory-rl, for a model of 8 billion weights.
 */
export function withFirstWeights<K extends Keys>(
  read: Arguments<K> & { readonly config: Beginning },
  suited: Partial<Config<K>>,
): Arguments<K> {
  const { config, given } = read;
  const env = config.env_type ?? 'single_step';
  const isOpen = config.load_checkpoint_path === WARMUP;
  const isMemory = config.environment === 'memory' && config.N > 1 && directoryIn(config.model_name) === null;
  const weights = isOpen ? (isMemory ? warmupNames[env] : null) : config.load_checkpoint_path;
  const settings = Object.entries(isWarmupName(weights) ? suited : {}).filter(([name]) => !given.has(name));
  return { given, config: { ...config, ...Object.fromEntries(settings), load_checkpoint_path: weights } };
}

type WarmupRequest = { readonly N: number; readonly model_name: string; readonly answer_format: AnswerFormat };

/**
 * Finds the initial weights of a run. Makes a warm-up first when it is neither shipped nor cached.
 *
 * @returns a path or name that a model is opened by, or the signal that interrupted the warm-up.
 * @throws UserError when the warmed-up model's answers are not equally likely enough.
 */
export async function weightsOf(
  path: string | null,
  { N, model_name: asked, answer_format: format }: WarmupRequest,
  context: ProcessContext,
): Promise<{ readonly path: string | null } | StopSignal> {
  if (!isWarmupName(path)) return { path };
  const model = Object.hasOwn(presets, asked) ? asked : shippedFor.model;
  const isShipped = model === shippedFor.model && format === shippedFor.format;
  if (isShipped && (shippedFor.sizes as readonly number[]).includes(N)) return { path };
  return keptWarmup({ name: path, model, N, format }, context);
}

type WarmupKey = {
  readonly name: WarmupName;
  readonly model: string;
  readonly N: number;
  readonly format: AnswerFormat;
};

async function keptWarmup(wanted: WarmupKey, context: ProcessContext): Promise<{ readonly path: string } | StopSignal> {
  const { name, model, N, format } = wanted;
  const cache = join(cacheOf(context.environment), 'memrl', 'warmups');
  const path = join(cache, [name, model, `N${N}`, format].join('-'));
  const { config } = readArguments(warmupKeys, argumentsOf(wanted));
  if (isWhole(path, config)) return { path };
  makeDirectory(path.concat('.making'), 'XDG_CACHE_HOME, or give load_checkpoint_path=none for random weights');
  const unlock = await lockWhenFree(path.concat('.making'), context);
  if (typeof unlock === 'string') return unlock;
  try {
    // Another process may have made it while this one waited.
    if (isWhole(path, config)) return { path };
    context.log(`${name} for model_name=${model}, N=${N} is made once, in a minute or more, and kept in ${path}`);
    const signal = await make(path, config, context);
    return signal ?? { path };
  } finally {
    unlock();
  }
}

function argumentsOf({ name, model, N, format }: WarmupKey): string[] {
  const env = name === warmupNames.single_step ? 'single_step' : 'multi_step';
  return [`env_type=${env}`, `model_name=${model}`, `n_values=${N}`, `answer_format=${format}`, 'engine=wasm'];
}

/** Whether a readable warm-up exists that was made with today's settings. */
function isWhole(path: string, config: Config<typeof warmupKeys>): boolean {
  const kept = readJson(join(path, runFiles.config)) as Record<string, unknown> | null;
  const differs = (key: string, value: unknown) => JSON.stringify(kept?.[key]) !== JSON.stringify(value);
  if (Object.entries(config).some(([key, value]) => differs(key, value))) return false;
  try {
    readModel(findModel(path));
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

/**
 * Makes the warm-up in a temporary directory and moves it into place when it is complete.
 * @returns the signal that interrupted it.
 */
async function make(
  path: string,
  config: Config<typeof warmupKeys>,
  context: ProcessContext,
): Promise<StopSignal | null> {
  const draft = mkdtempSync(`${path}.new-`);
  try {
    const directory = openRunDirectory(draft);
    keepConfig(directory, config, warmupBudget);
    const ending = await warmup(
      config,
      openRun(directory, { ...context, log: (line) => context.log(`warm-up: ${line}`) }),
    );
    if (ending.kind === 'stopped') return ending.signal;
    rmSync(path, { recursive: true, force: true });
    renameSync(draft, path);
    return null;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const fix = 'Begin with random weights (load_checkpoint_path=none), or with a warm-up of your own (memrl warmup).';
    throw new UserError(error.message, fix, { cause: error });
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * Waits while another process makes the same warm-up.
 * @returns a function that releases the lock, or the signal that interrupted the wait.
 */
async function lockWhenFree(folder: string, context: ProcessContext): Promise<(() => void) | StopSignal> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return lockRun(folder, context.processes);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      if (isFirst) context.log(`Another memrl process is making this warm-up (${folder}); waiting for it to finish.`);
    }
    const signal = await context.stopAsked();
    if (signal !== null) return signal;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function cacheOf(environment: ProcessContext['environment']): string {
  const cacheHome = environment['XDG_CACHE_HOME'] ?? '';
  return isAbsolute(cacheHome) ? cacheHome : join(environment['HOME'] || homedir(), '.cache');
}
