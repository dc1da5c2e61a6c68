/** `memrl eval-batch`: answers of a run's checkpoints to the same tasks, in one table. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as z from 'zod';
import { mean } from '../../../analysis/statistics.js';
import { UserError } from '../../../base/user-error.js';
import { runFiles } from '../../../contract/files.js';
import { shortNumber } from '../../../text/numbers.js';
import { columnsOf, csvLine, tableLines } from '../../../text/table.js';
import { moduleName } from '../../config/own-module.js';
import { type Environment, totalReward } from '../../environments/environment.js';
import { openEnvironment } from '../../environments/open-environment.js';
import { batchOf, scoresOf } from '../../probes/scored-batch.js';
import { rng } from '../../rng.js';
import { inGroups, rollOut, type Rollout, taskOf } from '../../rollouts/rollouts.js';
import { checkpointRows, placeOf } from '../../run/checkpoint-rows.js';
import { makeDirectory, makeMissing } from '../../run/make-directory.js';
import type { Row } from '../../run/metrics-file.js';
import type { ProcessContext, StopSignal } from '../../run/process-context.js';
import { readJson } from '../../run/read-json.js';
import { knownConfig } from '../../run/run-directory.js';
import type { EngineService } from '../../service/engine-service.js';
import { directoryIn, textTokenizer } from '../../service/open-model.js';
import { openSaved } from '../eval-run/open-saved.js';
import { type EvalBatchConfig, evaluationFolder } from './keys.js';
import { measuresOf } from './measures.js';

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
  const asked = evaluationOptions(config, stored);
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
    const found = await evaluateCheckpoint(subject, asked, { ...config, context });
    keepEvaluation(root, { ...found, subject: described });
    context.log(`step ${subject.step}: ${subject.path}`);
    consolidate(root);
  }
  const rows = consolidate(root);
  context.log(`written to ${join(root, consolidatedFile)}`);
  return { root, rows };
}

/** Options of the evaluation. */
type EvaluationOptions = ReturnType<typeof evaluationOptions>;

/** @throws UserError when neither the command nor the run names an environment. */
function evaluationOptions(config: EvalBatchConfig, stored: Stored) {
  const environment = config.environment ?? stored.environment;
  const maxTokens = config.max_new_tokens ?? stored.max_new_tokens ?? stored.max_tokens;
  if (environment === undefined || environment === 'memory' || maxTokens === undefined) {
    throw new UserError(
      `The run in ${config.path!} does not record its environment.`,
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

function folderOf({ environment, temperature, top_p: p, num_return_sequences: count }: EvaluationOptions): string {
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

type EngineOptions = Pick<EvalBatchConfig, 'engine' | 'threads'> & { readonly context: ProcessContext };

async function evaluateCheckpoint(
  { step, path }: Subject,
  asked: EvaluationOptions,
  opening: EngineOptions,
): Promise<Omit<StepEvaluation, 'subject'>> {
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
function promptsOf({ num_prompts: count, subset_frac: share }: EvaluationOptions, { name, size }: Environment): number {
  if (share === undefined) return Math.min(count, size);
  if (size !== Infinity && share <= 1) return Math.max(1, Math.round(share * size));
  const problem = share > 1 ? 'is not a share' : `is a share of the tasks, and ${name} has an unlimited number of them`;
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
  asked: EvaluationOptions,
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
        rollouts.map((rollout) => outcomeOf(rollout, player.environment)),
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
function outcomeOf(rollout: Rollout, { tokenizer }: Environment) {
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

// The files of an evaluation of checkpoints:
//
//   step_000010/records.jsonl.gz     a line for each prompt: answers, log-probabilities, entropies
//   step_000010/metrics.csv          a row for each prompt
//   step_000010/run_meta.json        the subject, the settings and the means
//   consolidated_metrics.csv         all rows of all steps, with the step as a whole number
//   metrics.jsonl                    the means of each step
//
// Several processes may each evaluate some of the steps: a step appears whole or not at all, and every process that
// has finished one consolidates the steps that are there.

const files = { records: 'records.jsonl.gz', metrics: 'metrics.csv', meta: 'run_meta.json' } as const;
const consolidatedFile = 'consolidated_metrics.csv';

/** `subject`: the model and the settings; results of another subject are replaced. */
type StepEvaluation = {
  readonly step: number;
  readonly subject: Readonly<Record<string, unknown>>;
  readonly records: readonly object[];
  readonly rows: readonly Readonly<Record<string, number>>[];
  readonly means: Row;
};

const Meta = z.looseObject({
  step: z.int().nonnegative(),
  subject: z.record(z.string(), z.unknown()),
  means: z.record(z.string(), z.number().nullable()),
});

const nameOf = (step: number) => `step_${String(step).padStart(6, '0')}`;

/** Whether there is an evaluation of the same subject. */
function isEvaluated(root: string, step: number, subject: StepEvaluation['subject']): boolean {
  const meta = Meta.safeParse(readJson(join(root, nameOf(step), files.meta)));
  return meta.success && JSON.stringify(meta.data.subject) === JSON.stringify(subject);
}

/** Writes the files of a step and moves them into place at once, over earlier ones. */
function keepEvaluation(root: string, { step, subject, records, rows, means }: StepEvaluation): void {
  const target = join(root, nameOf(step));
  const draft = `${target}.new`;
  rmSync(draft, { recursive: true, force: true });
  makeMissing(draft);
  const columns = Object.keys(rows[0]!);
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(csvLine);
  writeFileSync(join(draft, files.records), gzipSync(records.map((record) => `${JSON.stringify(record)}\n`).join('')));
  writeFileSync(join(draft, files.metrics), `${lines.join('\n')}\n`);
  writeFileSync(join(draft, files.meta), `${JSON.stringify({ step, subject, means }, null, 2)}\n`);
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
}

/**
 * Consolidates the finished steps, again if another process has finished a step meanwhile.
 * @returns the means of each step, in order.
 */
function consolidate(root: string): Row[] {
  for (;;) {
    const steps = evaluatedSteps(root);
    const rows = steps.map(({ step, means }): Row => ({ step, ...means }));
    replace(join(root, runFiles.metrics), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    replace(join(root, consolidatedFile), consolidatedText(root, steps));
    const names = (found: typeof steps) => found.map(({ name }) => name).join();
    if (names(steps) === names(evaluatedSteps(root))) return rows;
  }
}

type Step = z.infer<typeof Meta> & { readonly name: string };

function evaluatedSteps(root: string): Step[] {
  const found = readdirSync(root).flatMap((name) => {
    const meta = Meta.safeParse(/^step_\d+$/.test(name) ? readJson(join(root, name, files.meta)) : null);
    return meta.success && existsSync(join(root, name, files.metrics)) ? [{ ...meta.data, name }] : [];
  });
  return found.sort((a, b) => a.step - b.step);
}

/** Steps may lack columns that others have: fewer answers have fewer pass@k. */
function consolidatedText(root: string, steps: readonly Step[]): string {
  const tables = steps.map(({ name, step }) => {
    const [head, ...lines] = readFileSync(join(root, name, files.metrics), 'utf8')
      .trimEnd()
      .split('\n');
    return { name, step, columns: head!.split(','), rows: lines.map((line) => line.split(',')) };
  });
  const columns = [...new Set(tables.flatMap((table) => table.columns))];
  const lines = tables.flatMap(({ name, step, columns: own, rows }) => {
    const places = columns.map((column) => own.indexOf(column));
    return rows.map((row) => [step, name, ...places.map((at) => (at < 0 ? null : row[at]))]);
  });
  return [['step', 'eval_dir', ...columns], ...lines].map((line) => `${csvLine(line)}\n`).join('');
}

/** Replaces a file by a rename, from a draft that no other process writes. */
function replace(path: string, content: string): void {
  const draft = `${path}.${randomUUID()}.new`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}
