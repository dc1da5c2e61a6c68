import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { checkpointRows, placeOf } from './checkpoint-rows.js';
import { type Companions, writeCompanions } from './companion-files.js';
import { isOwn, readModel } from './model-files.js';
import type { TrainingService } from '../service/service.js';
import type { RunDirectory } from './run-directory.js';
import { readJson } from './read-json.js';
import { makeMissing } from './make-directory.js';

/**
 * A point of a run to save. `batch`: training steps done. `state`: plain JSON. `companions`: files for other programs,
 * if any.
 */
type Point = {
  readonly name: string;
  readonly batch: number;
  readonly state: unknown;
  readonly companions?: Companions | undefined;
};

/** A checkpoint that was found. `path`: its directory. */
export type Resumed = { readonly path: string; readonly batch: number; readonly state: unknown };

const stateFile = 'state.json';
/** File that holds the path of a checkpoint's weights on a service, in place of the weights. */
export const remoteStateFile = 'tinker.json';
/** Ending of the name of the directory in which a checkpoint is written. */
export const draftEnding = '.new';

const SavedState = z.looseObject({ version: z.literal(1), batch: z.int().nonnegative(), state: z.unknown() });

/**
 * Saves weights, optimizer and state under `checkpoints/<name>/`, and then adds a row to `checkpoints.jsonl`. A crash
 * at any moment leaves either the whole checkpoint or none.
 *
 * @param keep Number of checkpoint directories to keep; older ones are removed. null keeps all.
 * @returns the path of the checkpoint, relative to the run.
 */
export async function saveCheckpoint(
  directory: RunDirectory,
  point: Point,
  service: Pick<TrainingService, 'saveState'>,
  keep: number | null,
): Promise<string> {
  const place = join(runFiles.checkpointDirectory, point.name);
  const target = join(directory.path, place);
  const draft = `${target}${draftEnding}`;
  rmSync(draft, { recursive: true, force: true });
  makeMissing(draft);
  await service.saveState(draft);
  if (point.companions !== undefined) writeCompanions(draft, point.companions);
  writeFileSync(join(draft, stateFile), JSON.stringify({ version: 1, batch: point.batch, state: point.state }));
  replaceDirectory(draft, target);
  const row = {
    name: point.name,
    batch: point.batch,
    ...(point.name === 'final' && { final: true }),
    // The path is absolute, because scripts pass it to other commands, which may be started anywhere.
    state_path: resolve(target),
    sampler_path: resolve(target),
  };
  const rows = join(directory.path, runFiles.checkpoints);
  endLastRow(rows);
  appendFileSync(rows, `${JSON.stringify(row)}\n`);
  if (keep !== null) removeOld(directory, keep);
  return place;
}

/**
 * The last checkpoint of a run that is complete, or null. A damaged one is logged, and the one before it is tried.
 *
 * The step is read from the checkpoint's own record: a crash may have replaced `final` without adding a row.
 *
 * @param most Maximum number of steps done; later checkpoints are skipped.
 */
export function lastCheckpoint(directory: RunDirectory, log: (line: string) => void, most = Infinity): Resumed | null {
  const places = checkpointRows(directory.path).flatMap((row) => placeOf(directory.path, row) ?? []);
  for (const path of new Set(places.reverse())) {
    // Older checkpoints are removed as new ones are written.
    if (!existsSync(path)) continue;
    const found = wholeCheckpoint(path);
    if (typeof found !== 'string') {
      if (found.batch <= most) return found;
      continue;
    }
    log(`${found} This checkpoint is damaged; the one before it is tried.`);
  }
  return null;
}

/** @returns a sentence that names the damaged file, when the checkpoint is not complete. */
function wholeCheckpoint(path: string): Resumed | string {
  const state = join(path, stateFile);
  const saved = SavedState.safeParse(readJson(state));
  if (!saved.success) return `${state} cannot be read.`;
  // The weights are kept by the service that trains them.
  if (existsSync(join(path, remoteStateFile))) return { path, batch: saved.data.batch, state: saved.data.state };
  // The files for other programs alone would look like a model without optimizer state.
  if (!isOwn(path)) return `${path} has no model.json.`;
  try {
    readModel(path);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  return { path, batch: saved.data.batch, state: saved.data.state };
}

function replaceDirectory(draft: string, target: string): void {
  const old = `${target}.old`;
  rmSync(old, { recursive: true, force: true });
  if (existsSync(target)) renameSync(target, old);
  renameSync(draft, target);
  rmSync(old, { recursive: true, force: true });
}

function removeOld(directory: RunDirectory, keep: number): void {
  const places = checkpointRows(directory.path).flatMap((row) => placeOf(directory.path, row) ?? []);
  const latestFirst = [...new Set(places.reverse())];
  const own = resolve(directory.path, runFiles.checkpointDirectory);
  for (const place of latestFirst.slice(Math.max(1, keep))) {
    // Removes only checkpoints of this run.
    if (dirname(resolve(place)) === own) rmSync(place, { recursive: true, force: true });
  }
}

/**
 * A crash may have left the last row without its newline: completes it, or removes a partial row, which would damage
 * the file.
 */
function endLastRow(path: string): void {
  if (!existsSync(path)) return;
  const bytes = readFileSync(path);
  const start = bytes.lastIndexOf(10) + 1;
  if (start === bytes.length) return;
  if (parseJsonLine(bytes.toString('utf8', start)) === null) truncateSync(path, start);
  else appendFileSync(path, '\n');
}
