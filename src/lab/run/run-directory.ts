import { existsSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { checkpointRows } from './checkpoint-rows.js';
import { makeDirectory } from './make-directory.js';
import { readJson } from './read-json.js';

const engineFile = 'engine.json';

/** Directory of a recipe's output. */
export type RunDirectory = { readonly path: string; readonly metrics: string };

/** The directory of a run, made if it is not there. @throws UserError when the directory cannot be made. */
export function openRunDirectory(path: string): RunDirectory {
  makeDirectory(path, 'log_path');
  return { path, metrics: join(path, runFiles.metrics) };
}

/** Files beside the metrics that tinker-cookbook keeps of a run: its code, and its output. */
export const cookbookFiles = { code: 'code.diff', log: 'logs.log' } as const;

/** Files that a command writes before its first step. */
const firstFiles = [runFiles.config, runFiles.study, engineFile, cookbookFiles.code, cookbookFiles.log] as const;

/**
 * Records the state of a directory before a run begins in it.
 *
 * @returns a function that restores it when the run was refused: removes the files of its beginning, and the folders
 * that were made for it. A run that has written a row or a checkpoint was not refused, and all of it stays.
 */
export function rememberDirectory(path: string): () => void {
  const made = missingFolders(path);
  const before = firstFiles.map((name) => textOf(join(path, name)));
  const begun = () => [runFiles.metrics, runFiles.checkpoints].map((name) => sizeOf(join(path, name))).join();
  const asFound = begun();
  return () => {
    if (begun() !== asFound) return;
    for (const [index, name] of firstFiles.entries()) {
      const text = before[index]!;
      if (textOf(join(path, name)) === text) continue;
      if (text === null) rmSync(join(path, name));
      else writeWhole(join(path, name), text);
    }
    for (const folder of made) if (!isRemoved(folder)) return;
  };
}

/** The folder and its missing parents, innermost first. */
function missingFolders(path: string): string[] {
  const whole = resolve(path);
  return existsSync(whole) || dirname(whole) === whole ? [] : [whole, ...missingFolders(dirname(whole))];
}

/** Returns false when the folder is not empty. */
function isRemoved(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function sizeOf(path: string): number | null {
  try {
    return statSync(path).size;
  } catch {
    return null;
  }
}

/**
 * Writes `config.json`, and refuses to resume a run that began with other settings.
 *
 * @param budget Keys that may differ between attempts, because they only set how long and how often.
 */
export function keepConfig(
  directory: RunDirectory,
  config: Readonly<Record<string, unknown>>,
  budget: ReadonlySet<string>,
): void {
  const path = join(directory.path, runFiles.config);
  // A run without a checkpoint has nothing to resume, and begins again.
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

/** Writes `engine.json`: the engine of the present attempt. It may differ between attempts. */
export function recordEngine(
  directory: RunDirectory,
  used: { engine: string; on: string; why: string; threads: number | null },
): void {
  writeWhole(join(directory.path, engineFile), `${JSON.stringify(used, null, 2)}\n`);
}

/** The backend of the previous attempt; null when there was none, or it was not recorded. */
export function recordedEngine(run: RunDirectory): string | null {
  const engine = (readJson(join(run.path, 'engine.json')) as { readonly engine?: unknown } | null)?.engine;
  return typeof engine === 'string' ? engine : null;
}

/** Replaces a file by a rename, so that no reader and no crash ever sees half of it. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const replacement = `${path}.new`;
  writeFileSync(replacement, content);
  renameSync(replacement, path);
}

/**
 * The settings in a `config.json`, or null, in today's form: before there was `lora_alpha`, `lora_rank` had no effect,
 * and is read as 0.
 */
export function knownConfig(path: string): Record<string, unknown> | null {
  const before = readJson(path) as Record<string, unknown> | null;
  return before !== null && 'lora_rank' in before && !('lora_alpha' in before) ? { ...before, lora_rank: 0 } : before;
}

function differs(before: Record<string, unknown>, config: Readonly<Record<string, unknown>>, key: string): boolean {
  // A key that an older version did not have is no difference.
  return key in before && JSON.stringify(before[key]) !== JSON.stringify(config[key]);
}
