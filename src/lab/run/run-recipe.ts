import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import type { Engine } from '../engine/engine.js';
import { saveCheckpoint, type Resumed } from './checkpoint.js';
import type { Companions } from './companion-files.js';
import { openEvents } from './events-file.js';
import { requireFiniteWeights } from './finite.js';
import { writeModel } from './model-files.js';
import { appendRow, dropRowsFrom, type Row } from './metrics-file.js';
import type { RunDirectory } from './run-directory.js';
import { StepTimes } from './step-times.js';
import { openWandb, type WandbRun } from './wandb-file.js';
import type { StopSignal, ProcessContext } from './process-context.js';

/** How long, and how often what happens; in training steps. 0 means never. */
export type Schedule = {
  readonly batches: number;
  readonly evalEvery: number;
  /** Whether to evaluate at steps 1, 2, 4, 8 … as well. */
  readonly evalEarly?: boolean;
  readonly logEvery: number;
  readonly saveEvery: number;
  /** How many checkpoints to keep; null keeps all. */
  readonly keep: number | null;
  /** Whether rows are written for TensorBoard, too. */
  readonly tensorboard: boolean;
  /** How the run is called in files for W&B; without, or null, there are no such files. */
  readonly wandb?: WandbRun | null;
};

/** A training recipe, one step at a time. The loop around it decides what is due. */
export type Recipe = {
  readonly engine: Engine;
  /** What every checkpoint holds for other programs; nothing when it is left out. */
  readonly companions?: Companions;
  /** What a checkpoint needs beside weights and optimizer: plain JSON, and a copy. */
  readonly state: () => unknown;
  /** How far it is: numbers for the row of the coming step. */
  readonly progress: (step: number) => Row;
  /** Measures the present weights and changes nothing of them. */
  readonly evaluate: () => Promise<Row>;
  /** Asked after an evaluation: the reason, in words, to end the run here, its training done. */
  readonly enough: () => string | null;
  readonly step: (step: number) => Promise<void>;
  /** Statistics of the steps since the last row, and forgets them; empty when there were none. */
  readonly statistics: () => Row;
  /** A few words for people on how it goes. */
  readonly words: () => string;
  /** Lines for people that go with a row; none when it is left out. */
  readonly rowLines?: () => readonly string[];
};

type Job = {
  readonly world: ProcessContext;
  readonly directory: RunDirectory;
  readonly schedule: Schedule;
  readonly recipe: Recipe;
  /** The first step to do: that of the checkpoint the recipe was restored from, or 0. */
  readonly start: number;
};

export type Ending = { readonly kind: 'finished' } | { readonly kind: 'stopped'; readonly signal: StopSignal };

/**
 * Runs a recipe to its end, or to a signal. Rows go to `metrics.jsonl`, and hold no clock: the same settings give the
 * same file, byte for byte, however often the run was interrupted. How long steps took goes to `timing.jsonl`; TensorBoard's files and
 * W&B's have both. On a signal the present step is saved first.
 */
export async function runRecipe(job: Job): Promise<Ending> {
  dropRowsFrom(job.directory.metrics, job.start);
  const rows = rowWriter(job);
  const ending = await runSteps(job, rows);
  rows.end(exitCodeOf(ending));
  return ending;
}

async function runSteps(job: Job, rows: RowWriter): Promise<Ending> {
  const { world, schedule, recipe } = job;
  const { times } = rows;
  let said = world.now();
  let saved = job.start;
  for (let step = job.start; step < schedule.batches; step++) {
    const signal = await world.stopAsked();
    if (signal !== null) return stop(job, step, saved, signal);
    const enough = await oneStep(job, step, rows);
    if (enough !== null) {
      world.log(`step ${step}: ${enough}`);
      await finish(job, step, rows);
      return { kind: 'finished' };
    }
    if (isDue(step + 1, schedule.saveEvery) && step + 1 < schedule.batches) {
      await times.count('save_checkpoint', () => save(job, step + 1, recipe.state()));
      saved = step + 1;
    }
    if (world.now() - said >= 1000) {
      said = world.now();
      world.log(`step ${step + 1}/${schedule.batches} · ${recipe.words()}`);
    }
  }
  await finish(job, schedule.batches, rows);
  return { kind: 'finished' };
}

/** As a shell has it: 128 and the number of the signal. */
export function exitCodeOf(ending: Ending): number {
  if (ending.kind === 'finished') return 0;
  return ending.signal === 'SIGINT' ? 130 : 143;
}

/** Says where a finished run stands when there is nothing left to do. */
export function isComplete(resumed: Resumed | null, schedule: Schedule): boolean {
  return resumed !== null && resumed.batch >= schedule.batches;
}

/** Takes rows, and at last the exit code; gives each row the times since the one before it. */
type RowWriter = {
  readonly times: StepTimes;
  readonly write: (row: Row & { readonly step: number }) => void;
  readonly end: (exitCode: number) => void;
};

function rowWriter({ world, directory, schedule, start }: Job): RowWriter {
  const times = new StepTimes(world.now);
  const timing = join(directory.path, runFiles.timing);
  dropRowsFrom(timing, start);
  const events = schedule.tensorboard ? openEvents(directory.path, { start, time: world.time }) : null;
  const wandb = schedule.wandb == null ? null : openWandb(directory.path, schedule.wandb, world.time);
  const write: RowWriter['write'] = (row) => {
    const spent = times.row();
    appendRow(directory.metrics, row);
    appendRow(timing, { step: row.step, ...spent });
    events?.append({ ...row, ...spent });
    wandb?.append({ ...row, ...spent });
  };
  return { times, write, end: (exitCode) => wandb?.end(exitCode) };
}

/** @returns why this step was not done and the run ends before it; else null. */
async function oneStep(
  { schedule, recipe, world }: Job,
  step: number,
  { times, write }: RowWriter,
): Promise<string | null> {
  const progress = recipe.progress(step);
  const evaluation = evaluates(step, schedule) ? await times.count('run_evals', () => recipe.evaluate()) : null;
  const enough = evaluation === null ? null : recipe.enough();
  if (enough !== null) return enough;
  await times.count('train', () => recipe.step(step));
  if (evaluation === null && !isDue(step, schedule.logEvery)) return null;
  const head = { step, 'progress/batch': step, 'progress/done_frac': (step + 1) / schedule.batches };
  write({ ...head, ...progress, ...recipe.statistics(), ...evaluation });
  recipe.rowLines?.().forEach(world.log);
  return null;
}

/** The last row measures the final weights, after `step` steps; statistics are those since the row before it. */
async function finish(job: Job, step: number, { times, write }: RowWriter): Promise<void> {
  const { directory, schedule, recipe, world } = job;
  // A longer run goes on from here, and its next row must not miss what this one now reports.
  const state = recipe.state();
  const head = { step, 'progress/batch': step, 'progress/done_frac': 1 };
  const evaluation = schedule.evalEvery > 0 ? await times.count('run_evals', () => recipe.evaluate()) : {};
  write({ ...head, ...recipe.progress(step), ...recipe.statistics(), ...evaluation });
  requireFiniteWeights(await recipe.engine.weights(), step);
  const point = { name: 'final', batch: step, state, companions: recipe.companions };
  const place = await saveCheckpoint(directory, point, saving(recipe.engine), schedule.keep);
  world.log(`done: ${step} steps · ${recipe.words()} · ${place}`);
}

async function stop(job: Job, step: number, saved: number, signal: StopSignal): Promise<Ending> {
  if (step !== saved || step === 0) await save(job, step, job.recipe.state());
  job.world.log(`${signal}: saved at step ${step}; the same command continues from there`);
  return { kind: 'stopped', signal };
}

async function save({ directory, recipe, schedule }: Job, batch: number, state: unknown): Promise<void> {
  requireFiniteWeights(await recipe.engine.weights(), batch);
  const name = String(batch).padStart(6, '0');
  const point = { name, batch, state, companions: recipe.companions };
  await saveCheckpoint(directory, point, saving(recipe.engine), schedule.keep);
}

function evaluates(step: number, { evalEvery, evalEarly = false }: Schedule): boolean {
  const isPowerOfTwo = step > 0 && Number.isInteger(Math.log2(step));
  return isDue(step, evalEvery) || (evalEarly && evalEvery > 0 && isPowerOfTwo);
}

function isDue(step: number, every: number): boolean {
  return every > 0 && step % every === 0;
}

function saving(engine: Engine) {
  return { saveState: (directory: string) => writeModel(directory, engine) };
}
