import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import type { Config } from '../config/key.js';
import type { Episode } from '../rollout.js';
import { lastCheckpoint } from '../run/checkpoint.js';
import type { Row } from '../run/metrics-file.js';
import type { RunDirectory } from '../run/run-directory.js';
import type { Recipe } from '../run/run-recipe.js';
import type { StopSignal, ProcessContext } from '../run/process-context.js';
import type { trainKeys } from './keys.js';
import { openTrainer, type Watch } from './train.js';

/** `from`: where the run was taken up, in words. */
type Replayed = { readonly groups: readonly (readonly Episode[])[]; readonly from: string };

/**
 * Plays a step of a run again: takes up the run at its last checkpoint before that step, or at its start, and trains up to it. The
 * same settings, weights and random numbers give the same bits, so these are the episodes that were. Every row of the run's metrics
 * on the way is compared with what comes out now. Nothing is written.
 *
 * @returns the signal when one came before the step was played.
 */
export async function replay(
  run: string,
  config: Config<typeof trainKeys>,
  step: number,
  world: ProcessContext,
): Promise<Replayed | StopSignal> {
  const directory = { path: run, metrics: join(run, runFiles.metrics) };
  const rows = rowsDone(directory, step, world);
  const resumed = lastCheckpoint(directory, world.log, step);
  let groups: Replayed['groups'] = [];
  const watch: Watch = {
    begin: () => undefined,
    note: (_, played) => (groups = played),
    row: () => ({}),
    state: () => null,
  };
  const trainer = await openTrainer(config, { resumed, watch }, world);
  for (let at = resumed?.batch ?? 0; at <= step; at++) {
    const signal = await world.stopAsked();
    if (signal !== null) return signal;
    await trainer.step(at);
    const row = rows.get(at);
    if (row !== undefined) compare(trainer, at, row);
  }
  return {
    groups,
    from: resumed === null ? 'played again from the start of the run' : `played again from ${resumed.path}`,
  };
}

/** @throws UserError when the run has not done that step. */
function rowsDone(directory: RunDirectory, step: number, world: ProcessContext): Map<number, Record<string, unknown>> {
  const run = directory.path;
  const rows = metricsOf(run);
  const saved = lastCheckpoint(directory, world.log);
  // The last row of a finished run is of no step.
  if (saved !== null && basename(saved.path) === 'final') rows.delete(saved.batch);
  const last = Math.max(...rows.keys(), (saved?.batch ?? 0) - 1);
  if (step <= last) return rows;
  const done = last < 0 ? 'It has none.' : `Its last is step ${last}.`;
  throw new UserError(`${run} has no step ${step}. ${done}`, 'Give a step that it has done.');
}

/** The rows with statistics of training steps, by step. */
function metricsOf(run: string): Map<number, Record<string, unknown>> {
  const path = join(run, runFiles.metrics);
  const rows = existsSync(path) ? readFileSync(path, 'utf8').split('\n').map(parseJsonLine) : [];
  const isOfStep = (row: Record<string, unknown> | null) => row !== null && 'env/all/reward/total' in row;
  return new Map(rows.filter(isOfStep).map((row) => [Number(row!['step']), row!]));
}

/** @throws UserError when the steps since the last row are not what they were. */
function compare(trainer: Recipe, step: number, row: Readonly<Record<string, unknown>>): void {
  const found: Row = trainer.statistics();
  // As they are written: what is no number is null.
  const written = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null);
  const differing = Object.keys(found).find((name) => written(found[name]) !== written(row[name]));
  if (differing === undefined) return;
  throw new UserError(
    `Played again here, the run comes out differently at step ${step}: ${differing} is ${found[differing]}, and was ${String(row[differing])}.`,
    'Replay it with the engine, on the kind of machine and with the initial weights it was trained with; log_episodes=True keeps the episodes of a run.',
  );
}
