import { join } from 'node:path';
import { UserError } from '../../../base/user-error.js';
import { runFiles, runMarks } from '../../../contract/files.js';
import type { Config } from '../../config/key.js';
import { AdaptedEngine } from '../../engine/adapters/adapted-engine.js';
import type { Engine } from '../../engine/engine.js';
import { parameterCount } from '../../engine/layout.js';
import { rewardHistoryOf, verdictOf } from '../verdict.js';
import { examineMode, type Examination, type ModeResult } from '../../grpo/examine.js';
import { requireRoom, tokenizerOf } from '../../grpo/material.js';
import { inEachMode } from '../../grpo/modes.js';
import { makeDirectory } from '../../run/make-directory.js';
import { appendRow } from '../../run/metrics-file.js';
import { writeWhole } from '../../run/run-directory.js';
import type { StopSignal, World } from '../../run/world.js';
import type { evalRunKeys } from './keys.js';
import { examinationOf, measuredOf, type Measured } from './measured.js';
import { openSaved } from './open-saved.js';
import { referenceOf, type Reference } from './reference.js';
import { adapterReport, evalRow, historyReport, modeReport, type EvalRunReport } from './report.js';
import { findSubject, type Subject } from './subject.js';

type EvalConfig = Config<typeof evalRunKeys>;

const reportFile = 'eval_run.json';

/**
 * Measures a trained model: what it earns, whether it hacks, whether it has collapsed, in each mode of its adapters.
 *
 * @returns the signal that came instead, if one did.
 * @throws UserError for a path or settings that it cannot do this with.
 */
export async function evalRun(config: EvalConfig, world: World): Promise<EvalRunReport | StopSignal> {
  if (config.path === null) {
    throw new UserError(
      'There is no model to evaluate.',
      'Give a run or a checkpoint: memrl eval-run runs/mine/first.',
    );
  }
  const subject = findSubject(config.path);
  const measured = measuredOf(config, subject.stored);
  const { tokenizer } = tokenizerOf(subject.directory);
  const examination = await examinationOf(config, measured, tokenizer);
  const wish = { engine: config.engine, threads: config.threads };
  const engine = await openSaved(subject.directory, { ...wish, tokenizer }, world);
  try {
    const longest = Math.max(...examination.prompts.map(({ tokens }) => tokens.length));
    requireRoom(engine, longest, examination.manner.maxTokens);
    const reference = await referenceOf(engine, subject, examination, { wish, world });
    const results = await resultsOf(engine, { ...examination, reference: reference.texts }, world);
    return typeof results === 'string'
      ? results
      : reportOf(config, { subject, measured, examination, reference, engine, results });
  } finally {
    await engine.dispose();
  }
}

/** Writes the report's file, and its row where somebody keeps one. @returns the path of the file. */
export function keepReport(
  config: EvalConfig,
  report: EvalRunReport,
  { environment }: Pick<World, 'environment'>,
): string {
  const place = config.log_path ?? environment[runMarks.directory] ?? null;
  if (config.log_path !== null) makeDirectory(config.log_path, 'log_path');
  if (place !== null) appendRow(join(place, runFiles.metrics), evalRow(report));
  const path = config.out ?? standardPath(report, config.log_path);
  try {
    writeWhole(path, `${JSON.stringify(report, null, 2)}\n`);
  } catch (cause) {
    throw new UserError(`${path} cannot be written.`, 'Choose another file: out=eval_run.json.', { cause });
  }
  return path;
}

function standardPath({ path, model }: EvalRunReport, logPath: string | null): string {
  if (logPath !== null) return join(logPath, reportFile);
  return model.run === path ? join(path, reportFile) : `${model.directory.replace(/\/+$/, '')}.${reportFile}`;
}

/** In each mode, unless a signal comes between two of them. */
async function resultsOf(engine: Engine, examination: Examination, world: World): Promise<ModeResult[] | StopSignal> {
  let stopped: StopSignal | null = null;
  const results = await inEachMode(engine, async (mode) => {
    stopped ??= await world.stopAsked();
    return stopped === null ? examineMode(engine, examination, mode) : null;
  });
  return stopped ?? results.filter((result) => result !== null);
}

type Found = {
  readonly subject: Subject;
  readonly measured: Measured;
  readonly examination: Examination;
  readonly reference: Reference;
  readonly engine: Engine;
  readonly results: readonly ModeResult[];
};

function reportOf(config: EvalConfig, found: Found): EvalRunReport {
  const { subject, measured, examination, reference, engine, results } = found;
  const { shape } = engine;
  const history = rewardHistoryOf(subject.rewards);
  const { components } = measured.experiment.reward;
  const whole = results.find(({ mode }) => mode === 'both')!;
  const { verdict, reasons, upstream } = verdictOf(history, whole.diversity, whole.collapse.flags);
  const adapters = engine instanceof AdaptedEngine ? engine.adapters : [];
  return {
    version: 1,
    path: subject.path,
    model: {
      directory: subject.directory,
      run: subject.run,
      step: subject.step,
      parameters: parameterCount(shape),
      adapters: adapters.map((adapter) => adapterReport(adapter, shape)),
    },
    settings: settingsOf(config, measured, examination),
    history: historyReport(history, subject.rewardsFrom),
    reference: { model: reference.model, note: reference.note },
    modes: Object.fromEntries(results.map((result) => [result.mode, modeReport(result, components)])),
    verdict: { verdict, reasons: [...reasons], upstream },
  };
}

function settingsOf(
  { n_samples, seed, prompt_length, prompt_seed }: EvalConfig,
  { manner, data }: Measured,
  { reward, hackDetector }: Examination,
): EvalRunReport['settings'] {
  return {
    reward: reward.name,
    detector: hackDetector?.name ?? null,
    n_samples,
    max_completion_length: manner.maxTokens,
    temperature: manner.temperature,
    repetition_penalty: manner.repetitionPenalty,
    seed,
    prompt_length,
    prompt_seed,
    data,
  };
}
