import { join } from 'node:path';
import { UserError } from '../../../base/user-error.js';
import { runFiles, runMarks } from '../../../contract/files.js';
import type { Config } from '../../config/key.js';
import { AdaptedEngine } from '../../engine/adapters/adapted-engine.js';
import type { Adapter } from '../../engine/adapters/config.js';
import { parameterCount } from '../../engine/layout.js';
import { isHuggingFace } from '../../hugging-face/directory.js';
import { isDual, standardAlpha, storedAlpha } from '../../hugging-face/dual-lora.js';
import { batchOf, scoresOf } from '../../probes/scored-batch.js';
import type { Rollout } from '../../rollouts/rollouts.js';
import { makeDirectory } from '../../run/make-directory.js';
import { appendRow } from '../../run/metrics-file.js';
import { isOwn } from '../../run/model-files.js';
import type { ProcessContext, StopSignal } from '../../run/process-context.js';
import { writeWhole } from '../../run/run-directory.js';
import { inEachMode, presetAdapters, wholeModel, withoutAdapters } from '../../service/dual-adapters.js';
import type { EngineService } from '../../service/engine-service.js';
import { requireRoom, textTokenizer } from '../../service/open-model.js';
import { driftLimitsOf, type SampleLogprobs } from '../drift.js';
import {
  earnedBy,
  evaluateMode,
  type ModeEvaluation,
  type ModeReference,
  type ModeResult,
  playTasks,
} from '../modes.js';
import { rewardHistoryOf, verdictOf } from '../verdict.js';
import type { evalRunKeys } from './keys.js';
import { evaluationOf, type EvaluationMeasures, measuredOf } from './evaluation-measures.js';
import { type OpenOptions, openSaved } from './open-saved.js';
import {
  adapterReport,
  beforeReport,
  evalRow,
  type EvalRunReport,
  historyReport,
  limitsReport,
  modeReport,
} from './report.js';
import { baseOf, findSubject, type Subject } from './subject.js';

type EvalConfig = Config<typeof evalRunKeys>;

const reportFile = 'eval_run.json';

/**
 * Measures a trained model in each mode of its adapters: its reward, whether it hacks, whether it has collapsed.
 *
 * @returns the signal that interrupted it, if one did.
 * @throws UserError for a path or settings that cannot be evaluated.
 */
export async function evalRun(config: EvalConfig, context: ProcessContext): Promise<EvalRunReport | StopSignal> {
  if (config.path === null) {
    throw new UserError(
      'There is no model to evaluate.',
      'Give a run or a checkpoint: memrl eval-run runs/mine/first.',
    );
  }
  const subject = findSubject(config.path);
  const measured = measuredOf(config, subject.stored);
  const { tokenizer } = textTokenizer(subject.directory);
  const evaluation = await evaluationOf(config, measured, tokenizer);
  const { repetitionPenalty: repetition_penalty = 1 } = evaluation.sampling;
  const options = { engine: config.engine, threads: config.threads, repetition_penalty };
  const hint = { alpha: config.lora_alpha ?? alphaIn(config.lora_config) ?? standardAlpha };
  noteAlpha(config, subject.directory, context);
  const service = await openSaved(subject.directory, { ...options, tokenizer, hint }, context);
  try {
    const longest = Math.max(...evaluation.tasks.map(({ prompt }) => prompt.length));
    requireRoom(service.engine, longest, evaluation.sampling.maxTokens);
    requirePreset(service.engine, config.lora_config);
    return await withReference(service, { subject, evaluation, named: config, options, context }, async (reference) => {
      const asked = { ...evaluation, reference, wholeAlone: config.no_routing_eval };
      const results = await resultsOf(service, asked, context);
      return typeof results === 'string'
        ? results
        : reportOf(config, { subject, measured, evaluation, reference, engine: service.engine, results });
    });
  } finally {
    await service.engine.dispose();
  }
}

/** Logs a note when alpha is small-rl's default, since neither the checkpoint nor the command gives it. */
function noteAlpha(config: EvalConfig, directory: string, { log }: ProcessContext): void {
  const isGiven = config.lora_alpha !== null || alphaIn(config.lora_config) !== null;
  if (isGiven || isOwn(directory) || !isHuggingFace(directory) || !isDual(directory) || storedAlpha(directory) !== null)
    return;
  log(`lora_alpha=${standardAlpha}, stride 1: the checkpoint does not record its alpha; this is small-rl's default`);
}

/** Writes the report's file, and a row of metrics if requested. @returns the path of the file. */
export function keepReport(
  config: EvalConfig,
  report: EvalRunReport,
  { environment }: Pick<ProcessContext, 'environment'>,
): string {
  const place = config.log_path ?? environment[runMarks.directory] ?? null;
  if (config.log_path !== null) makeDirectory(config.log_path, 'log_path');
  if (place !== null) appendRow(join(place, runFiles.metrics), evalRow(report));
  if (config.output_dir !== null) makeDirectory(config.output_dir, 'output_dir');
  const path = config.out ?? standardPath(report, config.output_dir ?? config.log_path);
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

/** Evaluates in each mode, unless a signal comes between two of them. */
async function resultsOf(
  service: EngineService,
  { wholeAlone, ...evaluation }: ModeEvaluation & { readonly wholeAlone: boolean },
  context: ProcessContext,
): Promise<ModeResult[] | StopSignal> {
  if (wholeAlone) return [await evaluateMode(service, evaluation, wholeModel)];
  let stopped: StopSignal | null = null;
  const results = await inEachMode(service.engine, async (mode) => {
    stopped ??= await context.stopAsked();
    return stopped === null ? evaluateMode(service, evaluation, mode) : null;
  });
  return stopped ?? results.filter((result) => result !== null);
}

function alphaIn(preset: string | null): number | null {
  const adapter = preset === null ? undefined : presetAdapters(preset).find(({ kind }) => kind === 'lora');
  return adapter?.kind === 'lora' ? adapter.alpha : null;
}

/** @throws UserError when the checkpoint has other adapters than those of the preset. */
function requirePreset(engine: EngineService['engine'], preset: string | null): void {
  if (preset === null) return;
  const sizes = (adapters: readonly Adapter[]) =>
    adapters.map((each) => (each.kind === 'lora' ? `${each.name} rank ${each.rank} alpha ${each.alpha}` : `${each.name} ${each.neurons} neurons`)).join(', '); // prettier-ignore
  const [found, wanted] = [
    engine instanceof AdaptedEngine ? sizes(engine.adapters) : 'none',
    sizes(presetAdapters(preset)),
  ];
  if (found === wanted) return;
  throw new UserError(`lora_config=${preset} is ${wanted}, and the checkpoint has ${found}.`, 'Leave it out.');
}

type EvaluationSetup = {
  readonly subject: Subject;
  readonly measured: EvaluationMeasures;
  readonly evaluation: ModeEvaluation;
  readonly reference: Reference;
  readonly engine: EngineService['engine'];
  readonly results: readonly ModeResult[];
};

function reportOf(config: EvalConfig, found: EvaluationSetup): EvalRunReport {
  const { subject, measured, evaluation, reference, engine, results } = found;
  const { shape } = engine;
  const history = rewardHistoryOf(subject.rewards);
  const { components } = measured.experiment.reward;
  const whole = results.find(({ mode }) => mode === 'both')!;
  const findings = [...whole.collapse.flags, ...(whole.drift?.flags ?? [])];
  const unmeasured = whole.drift === null ? reference.note : null;
  const { verdict, reasons, upstream } = verdictOf(history, whole.diversity, findings, unmeasured);
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
    settings: settingsOf(config, measured, evaluation),
    history: historyReport(history, subject.rewardsFrom),
    reference: {
      model: reference.model,
      note: reference.note,
      held_out: config.held_out,
      before: reference.before === null ? null : beforeReport(reference.before),
      limits: reference.drift === null ? null : limitsReport(reference.drift.limits),
    },
    modes: Object.fromEntries(results.map((result) => [result.mode, modeReport(result, components)])),
    verdict: { verdict, reasons: [...reasons], upstream },
  };
}

function settingsOf(
  { n_samples, seed, prompt_length, prompt_seed }: EvalConfig,
  { sampling, data }: EvaluationMeasures,
  { scoring, hackDetector }: ModeEvaluation,
): EvalRunReport['settings'] {
  return {
    reward: scoring.name,
    detector: hackDetector?.name ?? null,
    n_samples,
    max_completion_length: sampling.maxTokens,
    temperature: sampling.temperature,
    repetition_penalty: sampling.repetitionPenalty ?? 1,
    seed,
    prompt_length,
    prompt_seed,
    data,
  };
}

/** Reference of the samples. `model` is null when the model before the training is unknown, and `note` says why. */
type Reference = ModeReference & { readonly model: string | null; readonly note: string };

type Question = {
  readonly subject: Subject;
  readonly evaluation: ModeEvaluation;
  /** Paths that the user gave. */
  readonly named: { readonly base: string | null; readonly held_out: string | null };
  readonly options: OpenOptions;
  readonly context: ProcessContext;
};

/**
 * Opens the reference models for `work`, and closes them afterwards. The model's own engine is then as it was.
 *
 * @throws UserError when a model that the user named cannot be opened.
 */
async function withReference<T>(
  service: EngineService,
  question: Question,
  work: (reference: Reference) => Promise<T>,
): Promise<T> {
  const opened: EngineService[] = [];
  const open: OpenModel = async (path) => {
    const { options, context, evaluation } = question;
    const { tokenizer } = evaluation.environment;
    const model = await openSaved(path, { ...options, tokenizer }, { ...context, log: () => {} });
    opened.push(model);
    return { service: model, within: (use) => use() };
  };
  try {
    const { base, ...found } = await findBase(service, question, open);
    const { held_out: path } = question.named;
    const heldOut = path === null ? null : await open(path);
    const known = base === null ? { before: null, drift: null } : await comparison(base, heldOut, question.evaluation);
    return await work({ ...found, ...known });
  } finally {
    for (const { engine } of opened) await engine.dispose();
  }
}

/** A reference model. `within` switches its engine to it during the work. */
type Model = { readonly service: EngineService; readonly within: <T>(work: () => Promise<T>) => Promise<T> };
type OpenModel = (path: string) => Promise<Model>;

type OpenedBase = Pick<Reference, 'model' | 'note'> & { readonly base: Model | null };

/**
 * The base is the frozen weights below the adapters; for a model that was trained as a whole, the run's initial model
 * is searched for.
 */
async function findBase(service: EngineService, { subject, named }: Question, open: OpenModel): Promise<OpenedBase> {
  const { engine } = service;
  if (named.base !== null) {
    const note = `the model that base= names, ${named.base}`;
    return { model: named.base, note, base: await open(named.base) };
  }
  if (engine instanceof AdaptedEngine) {
    const base: Model = { service, within: (work) => withoutAdapters(engine, work) };
    return { model: subject.directory, note: 'the same model without its adapters', base };
  }
  const path = baseOf(subject);
  if (path === null) {
    return { model: null, note: 'the model before the training is not known (name it by base=PATH)', base: null };
  }
  try {
    return { model: path, note: `the model that the run began with, ${path}`, base: await open(path) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const note = `the run began with ${path}, which cannot be opened (base=PATH names another): ${error.message}`;
    return { model: null, note, base: null };
  }
}

/** Minimum number of samples of the base from which limits are estimated: five of them are above the 95 % quantile. */
const fewestOwn = 100;

async function comparison(base: Model, heldOut: Model | null, evaluation: ModeEvaluation): Promise<ModeReference> {
  const read = async (groups: Groups) => ({
    base: await reading(base, groups),
    heldOut: heldOut === null ? null : await reading(heldOut, groups),
  });
  const first = await base.within(() => playTasks(base.service, evaluation));
  const copies = Math.ceil(fewestOwn / evaluation.tasks.length) - 1;
  const more =
    copies <= 0 ? [] : await base.within(() => playTasks(base.service, evaluation, { copies, stream: 'limits' }));
  return {
    before: await earnedBy(first, evaluation),
    drift: { limits: driftLimitsOf(await read([...first, ...more]), evaluation.tasks.length), read },
  };
}

type Groups = readonly (readonly Rollout[])[];

function reading({ service, within }: Model, groups: Groups): Promise<SampleLogprobs> {
  return within(async () => (await scoresOf(service.engine, batchOf(groups), 1)).map(({ logprobs }) => logprobs));
}
