import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { checkpointRows } from './checkpoint-rows.js';
import { makeDirectory } from './make-directory.js';
import { readJson } from './read-json.js';

/** Where a recipe keeps what it writes. */
export type RunDirectory = { readonly path: string; readonly metrics: string };

/** The directory of a run, made if it is not there. @throws UserError when it cannot be made. */
export function openRunDirectory(path: string): RunDirectory {
  makeDirectory(path, 'log_path');
  return { path, metrics: join(path, runFiles.metrics) };
}

/**
 * Writes `config.json`, and refuses to go on with a run that was begun with other settings.
 *
 * @param budget Keys that may differ between attempts: they say how long and how often, not what.
 */
export function keepConfig(
  directory: RunDirectory,
  config: Readonly<Record<string, unknown>>,
  budget: ReadonlySet<string>,
): void {
  const path = join(directory.path, runFiles.config);
  // Without a checkpoint there is nothing to go on with: whatever was tried here begins again.
  const before = checkpointRows(directory.path).length > 0 ? knownConfig(path) : null;
  const clash =
    before === null ? undefined : Object.keys(config).find((key) => !budget.has(key) && differs(before, config, key));
  if (clash !== undefined) {
    throw new UserError(
      `${directory.path} holds a run with ${clash}=${JSON.stringify(before?.[clash])}, and this one has ${clash}=${JSON.stringify(config[clash])}.`,
      'Choose another log_path, or remove that directory.',
    );
  }
  writeWhole(path, `${JSON.stringify(config, null, 2)}\n`);
}

/** Writes `engine.json`: what the present attempt computes on. It may differ from attempt to attempt, and be asked for later. */
export function recordEngine(
  directory: RunDirectory,
  used: { engine: string; on: string; why: string; threads: number | null },
): void {
  writeWhole(join(directory.path, 'engine.json'), `${JSON.stringify(used, null, 2)}\n`);
}

/** Replaces a file in one move, so that no reader and no crash ever sees half of it. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const replacement = `${path}.new`;
  writeFileSync(replacement, content);
  renameSync(replacement, path);
}

/** The settings in a `config.json`, or null, as they would be said today: before there was `lora_alpha`, `lora_rank` had no effect whatever it was. */
export function knownConfig(path: string): Record<string, unknown> | null {
  const before = readJson(path) as Record<string, unknown> | null;
  return before !== null && 'lora_rank' in before && !('lora_alpha' in before) ? { ...before, lora_rank: 0 } : before;
}

function differs(before: Record<string, unknown>, config: Readonly<Record<string, unknown>>, key: string): boolean {
  // A key that an older version did not know is no difference.
  return key in before && JSON.stringify(before[key]) !== JSON.stringify(config[key]);
}
