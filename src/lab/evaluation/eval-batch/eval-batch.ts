/** `memrl eval-batch`: answers of a run's checkpoints to the same tasks, in one table. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { mean } from '../../../analysis/statistics.js';
import { UserError } from '../../../base/user-error.js';
import { evaluationFolder } from '../../../contract/entropy-columns.js';
import { runFiles } from '../../../contract/files.js';
import { shortNumber } from '../../../text/numbers.js';
import { columnsOf, tableLines } from '../../../text/table.js';
import { moduleName } from '../../config/own-module.js';
import { totalReward, type Environment } from '../../environments/environment.js';
import { openEnvironment } from '../../environments/open-environment.js';
import { rng } from '../../rng.js';
import { inGroups, taskOf } from '../../rollouts/batches.js';
import { rollOut, type Rollout } from '../../rollouts/rollouts.js';
import { checkpointRows, placeOf } from '../../run/checkpoint-rows.js';
import { makeDirectory } from '../../run/make-directory.js';
import type { Row } from '../../run/metrics-file.js';
import type { ProcessContext, StopSignal } from '../../run/process-context.js';
import { knownConfig } from '../../run/run-directory.js';
import { directoryIn, textTokenizer } from '../../service/open-model.js';
import type { EngineService } from '../../service/engine-service.js';
import { batchOf, scoresOf } from '../../probes/scored-batch.js';
import { openSaved } from '../eval-run/open-saved.js';
import type { EvalBatchConfig } from './keys.js';
import { measuresOf } from './measures.js';
import { consolidate, consolidatedFile, isEvaluated, keepEvaluation, type Evaluated } from './results.js';

/** The settings of a run that its evaluation needs. */
const StoredRun = z.looseObject({
  environment: z.string().optional(),
  environment_params: z.string().nullish(),
  max_new_tokens: z.int().positive().optional(),
  max_tokens: z.int().positive().optional(),
  model_name: z.string().optional(),
  load_checkpoint_path: z.string().nullish(),
});
type Stored = z.infer<typeof StoredRun>;

/** A state of the weights: training steps done, and its directory. */
type Subject = { readonly step: number; readonly path: string };

/** @returns the directory of the results and the means of each step in them; or the signal that interrupted it. */
export async function evalBatch(
  config: EvalBatchConfig,
  context: ProcessContext,
): Promise<{ readonly root: string; readonly rows: readonly Row[] } | StopSignal> {
  const { path } = config;
  if (path === null) throw new UserError('There is no run to evaluate.', 'Give its directory: memrl eval-batch RUN.');
  const stored = StoredRun.safeParse(knownConfig(join(path, runFiles.config))).data ?? {};
  const asked = askedOf(config, stored);
  const subjects = subjectsOf(path, config, stored);
  const root = config.log_path ?? join(path, evaluationFolder, folderOf(asked));
  makeDirectory(root, 'log_path');
  for (const subject of subjects) {
    const signal = await context.stopAsked();
    if (signal !== null) return signal;
    const described = { ...asked, weights: digestOf(subject.path) };
    if (isEvaluated(root, subject.step, described)) {
      context.log(`step ${subject.step}: evaluated before`);
      continue;
    }
    const found = await evaluated(subject, asked, { ...config, context });
    keepEvaluation(root, { ...found, subject: described });
    context.log(`step ${subject.step}: ${subject.path}`);
    consolidate(root);
  }
  const rows = consolidate(root);
  context.log(`written to ${join(root, consolidatedFile)}`);
  return { root, rows };
}

/** Options of the evaluation. */
type Asked = ReturnType<typeof askedOf>;

/** @throws UserError when neither the command nor the run names an environment. */
function askedOf(config: EvalBatchConfig, stored: Stored) {
  const environment = config.environment ?? stored.environment;
  const maxTokens = config.max_new_tokens ?? stored.max_new_tokens ?? stored.max_tokens;
  if (environment === undefined || environment === 'memory' || maxTokens === undefined) {
    throw new UserError(
      `The run in ${config.path!} does not say which texts it plays with.`,
      'Give environment= and max_new_tokens=.',
    );
  }
  return {
    environment,
    environment_params: config.environment_params ?? stored.environment_params ?? null,
    num_prompts: config.num_prompts,
    ...(config.subset_frac !== null && { subset_frac: config.subset_frac }),
    num_return_sequences: config.num_return_sequences,
    max_new_tokens: maxTokens,
    temperature: config.temperature,
    top_p: config.top_p,
    seed: config.seed,
  };
}

function folderOf({ environment, temperature, top_p: p, num_return_sequences: count }: Asked): string {
  return join(moduleName(environment), `temp${temperature}_p${p}_r${count}`);
}

/** The last checkpoint of each step requested. @throws UserError when there is none. */
function subjectsOf(run: string, { steps, base }: EvalBatchConfig, stored: Stored): Subject[] {
  const found = checkpointsOf(run);
  const first = stored.load_checkpoint_path ?? directoryIn(stored.model_name ?? '');
  if (base && first !== null) found.set(0, first);
  const known = [...found.keys()].sort((a, b) => a - b);
  const wanted = steps ?? known;
  const missing = wanted.find((step) => !found.has(step));
  if (missing !== undefined)
    throw noCheckpoint(run, ` of step ${missing}`, `Give steps that are there: ${known.join(', ')}.`);
  if (wanted.length === 0) throw noCheckpoint(run, '', 'Give the directory of a run that has saved one.');
  return wanted.map((step) => ({ step, path: found.get(step)! }));
}

/** Directories of the checkpoints, by their step. */
function checkpointsOf(run: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const row of checkpointRows(run)) {
    const place = placeOf(run, row);
    if (place !== null && existsSync(place)) found.set(row.batch, place);
  }
  return found;
}

function noCheckpoint(run: string, which: string, fix: string): UserError {
  return new UserError(`The run in ${run} has no checkpoint${which}.`, fix);
}

/**
 * Digest of the weights; null when they are in several files. A run that was resumed from an earlier step has other
 * weights at the same step.
 */
function digestOf(path: string): string | null {
  const weights = join(path, 'model.safetensors');
  return existsSync(weights) ? createHash('sha256').update(readFileSync(weights)).digest('hex') : null;
}

type Opening = Pick<EvalBatchConfig, 'engine' | 'threads'> & { readonly context: ProcessContext };

async function evaluated({ step, path }: Subject, asked: Asked, opening: Opening): Promise<Omit<Evaluated, 'subject'>> {
  const { tokenizer } = textTokenizer(path);
  const whole = await openEnvironment(asked, tokenizer);
  const environment = whole.test ?? whole;
  const service = await openSaved(path, { ...opening, tokenizer }, opening.context);
  const played: PlayedPrompt[] = [];
  const indices = Array.from({ length: promptsOf(asked, environment) }, (_, index) => index);
  for (const these of inGroups(indices, promptsAtOnce)) {
    played.push(...(await playedPrompts({ service, environment }, these, asked)));
  }
  const rows = played.map(({ row }) => row);
  const means = Object.keys(rows[0]!).filter((column) => column !== 'q_idx');
  return {
    step,
    records: played.map(({ record }) => ({ step, ...record })),
    rows,
    means: Object.fromEntries(means.map((column) => [column, mean(rows.map((row) => row[column]!))])),
  };
}

/** @throws UserError for a share of unlimited tasks, or of more than all. */
function promptsOf({ num_prompts: count, subset_frac: share }: Asked, { name, size }: Environment): number {
  if (share === undefined) return Math.min(count, size);
  if (size !== Infinity && share <= 1) return Math.max(1, Math.round(share * size));
  const problem = share > 1 ? 'is no share' : `is a share of nothing: the tasks of ${name} have no end`;
  throw new UserError(`subset_frac=${share} ${problem}.`, 'Give a number from 0 to 1, or num_prompts=64.');
}

/** Prompts whose answers are sampled side by side; bounds memory. */
const promptsAtOnce = 32;

type PlayedPrompt = { readonly row: Readonly<Record<string, number>>; readonly record: object };

/**
 * Each prompt draws from a stream of its own, which is the same for every checkpoint and does not depend on the other
 * prompts.
 */
async function playedPrompts(
  player: { readonly service: EngineService; readonly environment: Environment },
  indices: readonly number[],
  asked: Asked,
): Promise<PlayedPrompt[]> {
  const { seed, num_return_sequences: copies, max_new_tokens: maxTokens, temperature, top_p: topP } = asked;
  const tasks = indices.map((index) => taskOf(player.environment, index, { seed, name: 'test task' }));
  const sampling = { maxTokens, temperature, ...(topP < 1 && { topP }) };
  const streams = indices.map((index) => rng(seed, `eval-batch/${index}`));
  const groups = await rollOut(player, tasks, { copies, sampling, streams: 'own' }, streams);
  const scores = await scoresOf(player.service.engine, batchOf(groups), temperature);
  return groups.map((rollouts, at) => {
    const own = scores.slice(at * copies, (at + 1) * copies);
    const { task } = rollouts[0]!;
    const row = {
      q_idx: indices[at]!,
      ...measuresOf(
        rollouts.map((rollout) => judged(rollout, player.environment)),
        own,
      ),
    };
    const record = {
      ...{ q_idx: indices[at]!, prompt: task.text, gold: task.gold ?? null },
      generations: rollouts.map(({ turns }) => turns.map(({ text }) => text).join('\n')),
      rewards: rollouts.map(totalReward),
      logprobs: own.map(({ logprobs }) => [...logprobs]),
      entropies: own.map(({ entropies }) => [...entropies]),
      cfg: { temperature, top_p: topP, num_return_sequences: copies },
    };
    return { row, record };
  });
}

/** Uses the environment's measurements if there are any: `correct`, and `tag_correct` or `format`. */
function judged(rollout: Rollout, { tokenizer }: Environment) {
  const { turns, rewards, tokens } = rollout;
  const metrics = rewards.at(-1)!.metrics ?? {};
  const text = turns.at(-1)!.text;
  const end = text.indexOf('</think>');
  return {
    isCorrect: 'correct' in metrics ? metrics['correct'] === 1 : totalReward(rollout) >= 1,
    isFormed: (metrics['tag_correct'] ?? metrics['format'] ?? 1) === 1,
    thought: end < 0 ? tokens.length : tokenizer.encode(text.slice(0, end)).length,
  };
}

const shownColumns = ['tag_ok_ave', 'pass@1', 'pass@1_unbiased', 'pass@8_unbiased', 'len_mean', 'ent_mean'];

/** The means of each step as a table. */
export function evalBatchLines(rows: readonly Row[], width: number): string[] {
  const right = columnsOf(rows)('right');
  const number = (name: string) => (row: Row) => (typeof row[name] === 'number' ? shortNumber(row[name]) : '');
  return tableLines(
    ['step', ...shownColumns].map((name) => right(name, number(name))),
    width,
  );
}
