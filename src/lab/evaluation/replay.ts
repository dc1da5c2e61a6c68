import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import type { TrainConfig } from '../algorithms/train-settings.js';
import { openTrain } from '../algorithms/train.js';
import type { Watch } from '../reference/episode-watch.js';
import type { Rollout } from '../rollouts/rollouts.js';
import { lastCheckpoint } from '../run/checkpoint.js';
import { Means } from '../run/means.js';
import type { Row } from '../run/metrics-file.js';
import type { StopSignal, ProcessContext } from '../run/process-context.js';
import type { RunDirectory } from '../run/run-directory.js';
import { meansOf } from '../run/runner.js';

/** `from`: the point from which the run was replayed, in words. */
type Replayed = { readonly groups: readonly (readonly Rollout[])[]; readonly from: string };

/**
 * Plays a step of a run again: resumes the run at its last checkpoint before that step, or at its start, and trains up
 * to it. The same settings, weights and random numbers give the same bits, so these are the original episodes. Every
 * row of the run's metrics on the way is compared with the replayed one. Nothing is written.
 *
 * @returns the signal when one came before the step was played.
 */
export async function replay(
  run: string,
  config: TrainConfig,
  step: number,
  context: ProcessContext,
): Promise<Replayed | StopSignal> {
  const directory = { path: run, metrics: join(run, runFiles.metrics) };
  const rows = rowsDone(directory, step, context);
  const resumed = lastCheckpoint(directory, context.log, step);
  let groups: Replayed['groups'] = [];
  const watch: Watch = {
    begin: () => undefined,
    note: (_, played) => (groups = played),
    row: () => ({}),
    state: () => null,
  };
  const training = await openTrain(config, { directory, context, resumed, isReplay: true }, watch);
  if (typeof training === 'string') return training;
  const row = new Means(training.columns);
  row.restore(meansOf(resumed));
  for (let at = resumed?.batch ?? 0; at <= step; at++) {
    const signal = await context.stopAsked();
    if (signal !== null) return signal;
    await training.step(at, row);
    const known = rows.get(at);
    if (known !== undefined) compare(row.take(), at, known);
  }
  return {
    groups,
    from: resumed === null ? 'played again from the start of the run' : `played again from ${resumed.path}`,
  };
}

/** @throws UserError when the run has not reached that step. */
function rowsDone(
  directory: RunDirectory,
  step: number,
  context: ProcessContext,
): Map<number, Record<string, unknown>> {
  const run = directory.path;
  const rows = metricsOf(run);
  const saved = lastCheckpoint(directory, context.log);
  // The last row of a finished run belongs to no step.
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

/** @throws UserError when the steps since the last row differ from the recorded ones. */
function compare(found: Row, step: number, row: Readonly<Record<string, unknown>>): void {
  // The file has null for numbers that are not finite.
  const written = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null);
  const differing = Object.keys(found).find((name) => written(found[name]) !== written(row[name]));
  if (differing === undefined) return;
  throw new UserError(
    `Played again here, the run comes out differently at step ${step}: ${differing} is ${found[differing]}, and was ${String(row[differing])}.`,
    'Replay it with the engine, on the kind of machine and with the initial weights it was trained with; log_episodes=True keeps the episodes of a run.',
  );
}
