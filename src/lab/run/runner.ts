/**
 * The loop around every algorithm: what is due, rows, checkpoints, signals, and the resumption of a run from its last checkpoint.
 *
 * Rows in `metrics.jsonl` hold no clock: the same settings give the same file, byte for byte, however often the run was
 * interrupted. How long steps took goes to `timing.jsonl`; TensorBoard's files and W&B's have both.
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
import { Means, MeansState } from './means.js';
import { appendRow, dropRowsFrom, type Row } from './metrics-file.js';
import type { ProcessContext, StopSignal } from './process-context.js';
import type { RunDirectory } from './run-directory.js';
import { StepTimes } from './step-times.js';
import { openWandb, wandbRun, type WandbRun } from './wandb-file.js';

/** How long, and how often what happens; in training steps. 0 means never. */
type Schedule = {
  readonly batches: number;
  readonly evalEvery: number;
  /** Whether to evaluate at steps 1, 2, 4, 8 … as well. */
  readonly evalEarly?: boolean;
  readonly logEvery: number;
  readonly saveEvery: number;
  /** Whether a new run saves what it begins with. */
  readonly savesStart?: boolean;
  /** How many checkpoints to keep; null keeps all. */
  readonly keep: number | null;
  /** Whether rows are written for TensorBoard, too. */
  readonly tensorboard: boolean;
  /** Whether `time/*` is in `metrics.jsonl`, too, which is then another file each time. */
  readonly timesInMetrics?: boolean;
  /** How the run is called in files for W&B; without, or null, there are no such files. */
  readonly wandb?: WandbRun | null;
};

/** The keys of an algorithm that say so. */
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
  /** Where it is kept. */
  readonly directory: RunDirectory;
  readonly context: ProcessContext;
  /** The checkpoint that it continues; null: it begins. */
  readonly resumed: Resumed | null;
  /** Whether a part of it is only to be seen again: nothing is written. */
  readonly isReplay?: boolean;
};

export function openRun(directory: RunDirectory, context: ProcessContext): Run {
  return { directory, context, resumed: lastCheckpoint(directory, context.log) };
}

/** An algorithm at work, one training step at a time. */
export type Training = {
  /** The name of its command; a checkpoint is continued by the same alone. */
  readonly algorithm: string;
  /** Whose weights and optimizer are saved. */
  readonly service: TrainingService;
  /** What every checkpoint holds for other programs. */
  readonly companions?: Companions | undefined;
  /** Whether `train.log` and `trainer_state.json` are kept, as by transformers. */
  readonly keepsHistory?: boolean;
  /** What is said of the run at its start. */
  readonly announcement?: readonly string[];
  /** Names of statistics, in the order in which a row has them. */
  readonly columns?: readonly string[];
  /** What a checkpoint needs beside weights, optimizer and statistics: plain JSON, and a copy. */
  readonly state?: () => Readonly<Record<string, unknown>>;
  /** How far it is: numbers for the row of the coming step. */
  readonly progress: (step: number) => Row;
  /** @param row Takes the statistics of the step; a row of the run has their means since the one before it. @param times Takes those of its parts. */
  readonly step: (step: number, row: Means, times: StepTimes) => Promise<void>;
  /** Measures the present weights and changes nothing of them. @param note Takes lines for people. */
  readonly evaluate?: (step: number, note: (line: string) => void) => Promise<Row>;
  /** Asked after an evaluation: the reason, in words, to end the run here, its training done. */
  readonly enough?: () => string | null;
  /** Called once after the last step, or after the checkpoint of a signal. */
  readonly ended?: (ending: Ending) => Promise<void>;
  /** A few words for people on how it is doing. */
  readonly words: () => string;
  /** What the policy wrote last, for people. */
  readonly sample?: () => { readonly prompt: string; readonly text: string } | null;
};

export type Ending = { readonly kind: 'finished' } | { readonly kind: 'stopped'; readonly signal: StopSignal };

/** As a shell has it: 128 and the number of the signal. */
export function exitCodeOf(ending: Ending): number {
  if (ending.kind === 'finished') return 0;
  return ending.signal === 'SIGINT' ? 130 : 143;
}

/** What the checkpoint that a run continues says of its state; null: it begins. @throws UserError when another algorithm wrote it. */
export function restoredState<S extends z.ZodType>({ resumed }: Run, schema: S, algorithm: string): z.infer<S> | null {
  if (resumed === null) return null;
  const saved = schema.safeParse(resumed.state);
  // Checkpoints of earlier versions do not say which it was.
  const by = AlgorithmOf.safeParse(resumed.state).data?.algorithm ?? algorithm;
  if (saved.success && by === algorithm) return saved.data;
  throw new UserError(`The checkpoint ${resumed.path} is not one of memrl ${algorithm}.`, 'Choose another log_path.');
}

const AlgorithmOf = z.looseObject({ algorithm: z.string() });

/** Of what the loop itself keeps. Checkpoints of earlier versions have none of it. */
const LoopState = z.looseObject({
  means: MeansState.default({}),
  logBytes: z.int().nonnegative().nullable().default(null),
});

/** What a checkpoint holds of a row that is not written yet. */
export function meansOf(resumed: Resumed | null): MeansState {
  return LoopState.parse(resumed?.state ?? {}).means;
}

/** What the loop works with. */
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
 * Trains from the first step, or from the last checkpoint, to the end or to a signal; then the present step is saved first. A run whose
 * steps are all done is only reported.
 *
 * @param open Opens model and data, or gives the signal that came meanwhile; not called for a complete run.
 * @param hint What would continue a complete run.
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
  let said = context.now();
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
    if (context.now() - said >= 1000) {
      said = context.now();
      context.log(`step ${step + 1}/${schedule.batches} · ${training.words()}`);
    }
  }
  await finish(loop, schedule.batches);
  return { kind: 'finished' };
}

/** Where rows go; each has the times since the one before it. */
function rowWriter(training: Training, schedule: Schedule, { directory, context, resumed }: Run) {
  const start = resumed?.batch ?? 0;
  const times = new StepTimes(context.now);
  const timing = join(directory.path, runFiles.timing);
  dropRowsFrom(timing, start);
  const events = schedule.tensorboard ? openEvents(directory.path, { start, time: context.time }) : null;
  const wandb = schedule.wandb == null ? null : openWandb(directory.path, schedule.wandb, context.time);
  const kl = new KlWatch(start > 0 && declaresLimits(directory.metrics));
  const told = new Set<string>();
  const write: Loop['write'] = (measured) => {
    const warning = kl.see(measured);
    const row = kl.withLimits(measured);
    for (const each of [warning, ...nonNumbers(measured, told)]) if (each !== null) context.log(each);
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

/** What to say of values of a probe that are no numbers, which the file has as null: once of each. */
function nonNumbers({ step, ...row }: Parameters<Loop['write']>[0], told: Set<string>): string[] {
  const found = Object.entries(row).filter(
    ([name, value]) => name.startsWith(probePrefix) && value !== null && !Number.isFinite(value) && !told.has(name),
  );
  return found.map(([name, value]) => {
    told.add(name);
    return `warning: ${name} is ${value} at step ${step}, and is null in the metrics; the probe has to return a number`;
  });
}

/** Whether the rows that an earlier attempt has left declare limits. */
function declaresLimits(metrics: string): boolean {
  return existsSync(metrics) && readFileSync(metrics).includes(`"${limitPrefix}`);
}

/** As small-rl has it there; null where there is none. */
function sampleText(training: Training): string | null {
  const found = training.sample?.() ?? null;
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return found === null ? null : `<pre>${escaped(found.prompt)} ||| ${escaped(found.text)}</pre>`;
}

/** @returns why this step was not done and the run ends before it; else null. */
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

/** A line that is the same each time the run is made: it is kept with the run, too. */
function note({ run, history }: Loop, line: string): void {
  run.context.log(line);
  history?.append(line);
}

/** The last row measures the final weights, after `step` steps; statistics are those since the row before it. */
async function finish(loop: Loop, step: number): Promise<void> {
  const { training, schedule, row } = loop;
  // A longer run goes on from here, and its next row must not miss what this one now reports.
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
