/**
 * The loop around every algorithm: schedule, rows, checkpoints, signals, and the resumption of a run from its last
 * checkpoint.
 *
 * Rows in `metrics.jsonl` hold no clock: the same settings give the same file, byte for byte, however often the run
 * was interrupted. Times of steps go to `timing.jsonl`; TensorBoard's files and W&B's have both.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { limitPrefix } from '../../contract/metric-names.js';
import type { TrainingService } from '../service/service.js';
import { lastCheckpoint, saveCheckpoint, type Resumed } from './checkpoint.js';
import type { Companions } from './companion-files.js';
import { openEvents } from './events-file.js';
import { requireFiniteWeights } from './finite.js';
import { openHistory, type History } from './history.js';
import { probePrefix } from '../probes/own-probe.js';
import { KlWatch } from './kl-watch.js';
import { appendRow, dropRowsFrom, Means, MeansState, type Row } from './metrics-file.js';
import type { ProcessContext, StopSignal } from './process-context.js';
import type { RunDirectory } from './run-directory.js';
import { StepTimes } from './step-times.js';
import { openWandb, wandbRun, type WandbRun } from './wandb-file.js';

/** Length of a run, and the intervals of its activities; in training steps. 0 means never. */
type Schedule = {
  readonly batches: number;
  readonly evalEvery: number;
  /** Whether to evaluate at steps 1, 2, 4, 8 … as well. */
  readonly evalEarly?: boolean;
  readonly logEvery: number;
  readonly saveEvery: number;
  /** Whether a new run saves its initial weights. */
  readonly savesStart?: boolean;
  /** How many checkpoints to keep; null keeps all. */
  readonly keep: number | null;
  /** Whether rows are written for TensorBoard, too. */
  readonly tensorboard: boolean;
  /** Whether `time/*` is in `metrics.jsonl` as well, which is then no longer reproducible. */
  readonly timesInMetrics?: boolean;
  /** The run's name in files for W&B; without, or null, there are no such files. */
  readonly wandb?: WandbRun | null;
};

/** The keys of an algorithm that set its schedule. */
type ScheduleKeys = Parameters<typeof wandbRun>[0] & {
  readonly keep_checkpoints: number | null;
  readonly tensorboard: boolean;
  readonly log_times: boolean;
};

type Every = { readonly eval_every: number; readonly log_every: number; readonly save_every: number };

/** @param batches Steps of the whole run. */
export function scheduleOf(config: ScheduleKeys, every: Every, batches: number): Schedule {
  return {
    batches,
    evalEvery: every.eval_every,
    logEvery: every.log_every,
    saveEvery: every.save_every,
    keep: config.keep_checkpoints,
    tensorboard: config.tensorboard,
    timesInMetrics: config.log_times,
    wandb: wandbRun(config),
  };
}

export type Run = {
  /** Directory of the run. */
  readonly directory: RunDirectory;
  readonly context: ProcessContext;
  /** The checkpoint that it continues; null for a new run. */
  readonly resumed: Resumed | null;
  /** Whether steps are only replayed: nothing is written. */
  readonly isReplay?: boolean;
};

export function openRun(directory: RunDirectory, context: ProcessContext): Run {
  return { directory, context, resumed: lastCheckpoint(directory, context.log) };
}

/** An algorithm in progress, one training step at a time. */
export type Training = {
  /** Name of its command; a checkpoint can only be continued by the same algorithm. */
  readonly algorithm: string;
  /** The service whose weights and optimizer are saved. */
  readonly service: TrainingService;
  /** Files in every checkpoint for other programs. */
  readonly companions?: Companions | undefined;
  /** Whether `train.log` and `trainer_state.json` are kept, as by transformers. */
  readonly keepsHistory?: boolean;
  /** Messages at the start of the run. */
  readonly announcement?: readonly string[];
  /** Names of statistics, in the order of a row's columns. */
  readonly columns?: readonly string[];
  /** State for a checkpoint besides weights, optimizer and statistics: plain JSON, and a copy. */
  readonly state?: () => Readonly<Record<string, unknown>>;
  /** Numbers about progress for the row of the coming step. */
  readonly progress: (step: number) => Row;
  /**
   * @param row Receives the statistics of the step; a row of the run has their means since the previous row.
   * @param times Receives the times of its parts.
   */
  readonly step: (step: number, row: Means, times: StepTimes) => Promise<void>;
  /** Measures the present weights and must not change them. @param note Receives lines of output. */
  readonly evaluate?: (step: number, note: (line: string) => void) => Promise<Row>;
  /** Called after an evaluation: the reason, in words, to end the run here as done. */
  readonly enough?: () => string | null;
  /** Called once after the last step, or after the checkpoint of a signal. */
  readonly ended?: (ending: Ending) => Promise<void>;
  /** A few words of output about the run's progress. */
  readonly words: () => string;
  /** The policy's last sample, for logs. */
  readonly sample?: () => { readonly prompt: string; readonly text: string } | null;
};

export type Ending = { readonly kind: 'finished' } | { readonly kind: 'stopped'; readonly signal: StopSignal };

/** Exit code by the shell's convention: 128 plus the number of the signal. */
export function exitCodeOf(ending: Ending): number {
  if (ending.kind === 'finished') return 0;
  return ending.signal === 'SIGINT' ? 130 : 143;
}

/**
 * The algorithm's state from the checkpoint that a run continues; null for a new run.
 * @throws UserError when another algorithm wrote the checkpoint.
 */
export function restoredState<S extends z.ZodType>({ resumed }: Run, schema: S, algorithm: string): z.infer<S> | null {
  if (resumed === null) return null;
  const saved = schema.safeParse(resumed.state);
  // Checkpoints of earlier versions do not record their algorithm.
  const by = AlgorithmOf.safeParse(resumed.state).data?.algorithm ?? algorithm;
  if (saved.success && by === algorithm) return saved.data;
  throw new UserError(`The checkpoint ${resumed.path} is not one of memrl ${algorithm}.`, 'Choose another log_path.');
}

const AlgorithmOf = z.looseObject({ algorithm: z.string() });

/** State of the loop itself. Checkpoints of earlier versions have none of it. */
const LoopState = z.looseObject({
  means: MeansState.default({}),
  logBytes: z.int().nonnegative().nullable().default(null),
});

/** Sums in a checkpoint for a row that has not been written yet. */
export function meansOf(resumed: Resumed | null): MeansState {
  return LoopState.parse(resumed?.state ?? {}).means;
}

/** State and tools of the loop. */
type Loop = {
  readonly training: Training;
  readonly schedule: Schedule;
  readonly run: Run;
  readonly row: Means;
  readonly history: History | null;
  readonly times: StepTimes;
  readonly write: (row: Row & { readonly step: number }) => void;
};

/**
 * Trains from the first step, or from the last checkpoint, to the end or to a signal; a signal first saves the present
 * step. A run whose steps are all done is only reported.
 *
 * @param open Opens model and data, or returns the signal that interrupted it; not called for a complete run.
 * @param hint How to continue a complete run.
 */
export async function runTraining(
  open: () => Promise<Training | StopSignal>,
  schedule: Schedule,
  run: Run,
  hint?: string,
): Promise<Ending> {
  const start = run.resumed?.batch ?? 0;
  if (run.resumed !== null && start >= schedule.batches) {
    run.context.log([`already complete: ${start} steps are done.`, ...(hint === undefined ? [] : [hint])].join(' '));
    return { kind: 'finished' };
  }
  const training = await open();
  if (typeof training === 'string') return { kind: 'stopped', signal: training };
  const { loop, end } = openLoop(training, schedule, run);
  announce(loop);
  if (run.resumed === null && schedule.savesStart === true) {
    await loop.times.count('save_checkpoint', () => save(loop, 0, stateOf(loop)));
  }
  const ending = await runSteps(loop, start);
  end(exitCodeOf(ending));
  await loop.training.ended?.(ending);
  return ending;
}

function openLoop(training: Training, schedule: Schedule, run: Run) {
  const start = run.resumed?.batch ?? 0;
  const state = LoopState.parse(run.resumed?.state ?? {});
  dropRowsFrom(run.directory.metrics, start);
  const row = new Means(training.columns);
  row.restore(state.means);
  const history = training.keepsHistory === true ? openHistory(run.directory, start === 0 ? 0 : state.logBytes) : null;
  const { times, write, end } = rowWriter(training, schedule, run);
  const loop: Loop = { training, schedule, run, row, history, times, write };
  return { loop, end };
}

function announce(loop: Loop): void {
  const { resumed, context } = loop.run;
  const lines = loop.training.announcement ?? [];
  if (resumed === null) return lines.forEach((line) => note(loop, line));
  lines.forEach(context.log);
  context.log(`continues at step ${resumed.batch} from ${resumed.path}`);
}

async function runSteps(loop: Loop, start: number): Promise<Ending> {
  const { training, schedule, run, times } = loop;
  const { context } = run;
  let loggedAt = context.now();
  let saved = start;
  for (let step = start; step < schedule.batches; step++) {
    const signal = await context.stopAsked();
    if (signal !== null) return stop(loop, step, saved, signal);
    const enough = await oneStep(loop, step);
    if (enough !== null) {
      context.log(`step ${step}: ${enough}`);
      await finish(loop, step);
      return { kind: 'finished' };
    }
    if (isDue(step + 1, schedule.saveEvery) && step + 1 < schedule.batches) {
      await times.count('save_checkpoint', () => save(loop, step + 1, stateOf(loop)));
      saved = step + 1;
    }
    if (context.now() - loggedAt >= 1000) {
      loggedAt = context.now();
      context.log(`step ${step + 1}/${schedule.batches} · ${training.words()}`);
    }
  }
  await finish(loop, schedule.batches);
  return { kind: 'finished' };
}

/** Writes rows; each has the times since the previous one. */
function rowWriter(training: Training, schedule: Schedule, { directory, context, resumed }: Run) {
  const start = resumed?.batch ?? 0;
  const times = new StepTimes(context.now);
  const timing = join(directory.path, runFiles.timing);
  dropRowsFrom(timing, start);
  const events = schedule.tensorboard ? openEvents(directory.path, { start, time: context.time }) : null;
  const wandb = schedule.wandb == null ? null : openWandb(directory.path, schedule.wandb, context.time);
  const kl = new KlWatch(start > 0 && declaresLimits(directory.metrics));
  const warned = new Set<string>();
  const write: Loop['write'] = (measured) => {
    const warning = kl.see(measured);
    const row = kl.withLimits(measured);
    for (const each of [warning, ...nonNumbers(measured, warned)]) if (each !== null) context.log(each);
    const spent = times.row();
    appendRow(directory.metrics, schedule.timesInMetrics === true ? { ...row, ...spent } : row);
    appendRow(timing, { step: row.step, ...spent });
    events?.append({ ...row, ...spent });
    wandb?.append({ ...row, ...spent }, sampleText(training));
  };
  const end = (exitCode: number) => {
    const summary = kl.summary();
    if (summary !== null) context.log(summary);
    wandb?.end(exitCode);
  };
  return { times, write, end };
}

/** Warnings about values of a probe that are not finite, which the file has as null: one for each name. */
function nonNumbers({ step, ...row }: Parameters<Loop['write']>[0], warned: Set<string>): string[] {
  const found = Object.entries(row).filter(
    ([name, value]) => name.startsWith(probePrefix) && value !== null && !Number.isFinite(value) && !warned.has(name),
  );
  return found.map(([name, value]) => {
    warned.add(name);
    return `warning: ${name} is ${value} at step ${step}, and is null in the metrics; the probe has to return a number`;
  });
}

/** Whether the rows of an earlier attempt declare limits. */
function declaresLimits(metrics: string): boolean {
  return existsSync(metrics) && readFileSync(metrics).includes(`"${limitPrefix}`);
}

/** The sample in small-rl's format; null when there is none. */
function sampleText(training: Training): string | null {
  const found = training.sample?.() ?? null;
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return found === null ? null : `<pre>${escaped(found.prompt)} ||| ${escaped(found.text)}</pre>`;
}

/** @returns the reason why this step was not done and the run ends before it; else null. */
async function oneStep(loop: Loop, step: number): Promise<string | null> {
  const { training, schedule, row, times } = loop;
  const isRowDue = evaluates(step, schedule) || isDue(step, schedule.logEvery);
  const progress = isRowDue ? training.progress(step) : {};
  const evaluation = evaluates(step, schedule) ? await evaluate(loop, step) : null;
  const enough = evaluation === null ? null : (training.enough?.() ?? null);
  if (enough !== null) return enough;
  await times.count('train', () => training.step(step, row, times));
  if (!isRowDue) return null;
  const head = { step, 'progress/batch': step, 'progress/done_frac': (step + 1) / schedule.batches };
  loop.write({ ...head, ...progress, ...row.take(), ...evaluation });
  noteSample(loop, step + 1);
  return null;
}

function noteSample(loop: Loop, steps: number): void {
  const { training, history } = loop;
  const sample = history === null ? null : (training.sample?.() ?? null);
  if (sample !== null) ['', history!.sampleLine(steps, sample), ''].forEach((line) => note(loop, line));
}

function evaluate(loop: Loop, step: number): Promise<Row> {
  const { training, times } = loop;
  return times.count('run_evals', async () => (await training.evaluate?.(step, (line) => note(loop, line))) ?? {});
}

/** Logs a line that is reproducible: it is kept with the run as well. */
function note({ run, history }: Loop, line: string): void {
  run.context.log(line);
  history?.append(line);
}

/** The last row, after `step` steps: measures the final weights, and has the statistics since the previous row. */
async function finish(loop: Loop, step: number): Promise<void> {
  const { training, schedule, row } = loop;
  // The state is copied first: a longer run resumes here, and its next row must include the sums that this row reports.
  const state = stateOf(loop);
  const head = { step, 'progress/batch': step, 'progress/done_frac': 1 };
  const evaluation = schedule.evalEvery > 0 ? await evaluate(loop, step) : {};
  loop.write({ ...head, ...training.progress(step), ...row.take(), ...evaluation });
  const place = await save(loop, step, state, 'final');
  note(loop, `done: ${step} steps · ${training.words()} · ${place}`);
}

async function stop(loop: Loop, step: number, saved: number, signal: StopSignal): Promise<Ending> {
  if (step !== saved || step === 0) await save(loop, step, stateOf(loop));
  loop.run.context.log(`${signal}: saved at step ${step}; the same command continues from there`);
  return { kind: 'stopped', signal };
}

function stateOf({ training, row, history }: Loop): unknown {
  const kept = history === null ? {} : { logBytes: history.bytes() };
  return structuredClone({ algorithm: training.algorithm, ...training.state?.(), means: row.state(), ...kept });
}

/** @returns the path of the checkpoint, relative to the run. */
async function save(loop: Loop, batch: number, state: unknown, name = String(batch).padStart(6, '0')): Promise<string> {
  const { training, schedule, run, history } = loop;
  requireFiniteWeights((await training.service.weights?.()) ?? new Float32Array(), batch);
  const { companions } = training;
  const trainerState = history?.trainerState(batch, schedule.batches);
  const files = trainerState === undefined ? companions?.files : new Map([...(companions?.files ?? []), trainerState]);
  return saveCheckpoint(
    run.directory,
    { name, batch, state, companions: companions === undefined ? undefined : { ...companions, files: files! } },
    training.service,
    schedule.keep,
  );
}

function evaluates(step: number, { evalEvery, evalEarly = false }: Schedule): boolean {
  const isPowerOfTwo = step > 0 && Number.isInteger(Math.log2(step));
  return isDue(step, evalEvery) || (evalEarly && evalEvery > 0 && isPowerOfTwo);
}

function isDue(step: number, every: number): boolean {
  return every > 0 && step % every === 0;
}
