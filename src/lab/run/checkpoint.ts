import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import type { Engine } from '../engine/engine.js';
import { checkpointRows, placeOf } from './checkpoint-rows.js';
import { type Companions, writeCompanions } from './companion-files.js';
import { isOwn, readModel, restoreModel } from './model-files.js';
import type { TrainingService } from '../service/service.js';
import type { RunDirectory } from './run-directory.js';
import { readJson } from './read-json.js';
import { makeMissing } from './make-directory.js';

/** A point of a run to save. `batch`: training steps done. `state`: plain JSON. `companions`: for other programs, if any. */
type Point = {
  readonly name: string;
  readonly batch: number;
  readonly state: unknown;
  readonly companions?: Companions | undefined;
};

/** A saved point that was found again. `path`: its directory. */
export type Resumed = { readonly path: string; readonly batch: number; readonly state: unknown };

const stateFile = 'state.json';
/** Says where on a service the weights of a checkpoint are, in the place of the weights. */
export const remoteStateFile = 'tinker.json';
/** Ends the name of the directory in which a checkpoint is written. */
export const draftEnding = '.new';

const SavedState = z.looseObject({ version: z.literal(1), batch: z.int().nonnegative(), state: z.unknown() });

/**
 * Saves weights, optimizer and state under `checkpoints/<name>/`, and then tells of it in `checkpoints.jsonl`. A crash
 * at any moment leaves either the whole checkpoint or none.
 *
 * @param keep How many checkpoint directories stay; older ones are removed. null keeps all.
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
    // Scripts pass them on to other commands, from wherever these are started.
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
 * The last checkpoint of a run that is there and whole, or null. One that is there and damaged is named, and the one before it
 * tried.
 *
 * Its own record says which step it is of: a crash may have replaced `final` without telling of it.
 *
 * @param most Steps that may be done in it; those of later ones are passed over.
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

/** @returns what is wrong with it, in a sentence that names the file, when it is not whole. */
function wholeCheckpoint(path: string): Resumed | string {
  const state = join(path, stateFile);
  const saved = SavedState.safeParse(readJson(state));
  if (!saved.success) return `${state} cannot be read.`;
  // Its weights are kept by the service that trains them.
  if (existsSync(join(path, remoteStateFile))) return { path, batch: saved.data.batch, state: saved.data.state };
  // Without our own description, its companions would pass it for a model that has no optimizer.
  if (!isOwn(path)) return `${path} has no model.json.`;
  try {
    readModel(path);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  return { path, batch: saved.data.batch, state: saved.data.state };
}

/** Gives the engine the weights and the optimizer of a checkpoint; one with adapters, what is trained of it. */
export async function restore(engine: Engine, resumed: Resumed): Promise<void> {
  await restoreModel(resumed.path, engine);
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
    // Never what another run keeps.
    if (dirname(resolve(place)) === own) rmSync(place, { recursive: true, force: true });
  }
}

/** Where a crash left the last row without its newline: adds that, or removes the half of a row, which would damage the file. */
function endLastRow(path: string): void {
  if (!existsSync(path)) return;
  const bytes = readFileSync(path);
  const start = bytes.lastIndexOf(10) + 1;
  if (start === bytes.length) return;
  if (parseJsonLine(bytes.toString('utf8', start)) === null) truncateSync(path, start);
  else appendFileSync(path, '\n');
}
