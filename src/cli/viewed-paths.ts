import { existsSync, lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { geteuid } from 'node:process';
import type { ReportedRun } from '../analysis/analysed-run.js';
import { Name } from '../base/ids.js';
import { UserError } from '../base/user-error.js';
import type { Fleet } from '../client/fleet.js';
import { supervisorFiles } from '../contract/files.js';
import { statOf } from '../metrics/run-folders.js';
import { mayHoldRuns } from '../metrics/tree/find-runs.js';
import { type UnreadStore, unreadWords } from '../metrics/tree/unread-stores.js';
import { readConfig } from '../runs/read-runs.js';
import { counted } from '../text/numbers.js';
import { folderText } from '../text/romanized.js';
import { FolderFleet, type ViewedPath } from '../view/folder-fleet.js';
import { patienceOf, recalled, withFleet } from './open-fleet.js';
import { type CommonOptions, runsDirectory } from './options.js';
import { at } from './ports.js';
import { remark } from './terminal.js';

/**
 * The words at the beginning that are paths of folders to view, and the others. A word that is the name of a sweep in the runs
 * directory is none, and nor is the name of a folder without a slash where sweeps were launched.
 */
export function viewedPaths(
  words: readonly string[],
  { runs }: Pick<CommonOptions, 'runs'>,
): { readonly paths: readonly ViewedPath[]; readonly rest: readonly string[] } {
  const sweeps = runsDirectory(runs);
  const isPath = (word: string) => {
    const isName = !word.includes('/') && word !== '.' && word !== '..';
    if (word.trim() === '' || (isName && existsSync(join(sweeps, word)))) return false;
    return canBeViewed(word);
  };
  const end = words.findIndex((word) => !isPath(word));
  const count = end < 0 ? words.length : end;
  return { paths: labelled(words.slice(0, count)), rest: words.slice(count) };
}

/** @throws {UserError} When one of the paths is not there, or is no folder and no database of runs. */
export function requiredPaths(words: readonly string[]): readonly ViewedPath[] {
  const wrong = words.find((word) => word.trim() === '' || !canBeViewed(word));
  if (wrong === undefined) return labelled(words);
  throw new UserError(
    existsSync(at(wrong))
      ? `${wrong} is neither a folder nor a database of trackio or MLflow.`
      : `There is no ${wrong || 'path of no name'}.`,
    'Name folders in which programs have written metrics: `memrl-tui view runs/ lightning_logs/ mlruns/`.',
  );
}

function canBeViewed(path: string): boolean {
  const stat = statOf(at(path));
  return stat !== null && (stat.isDirectory() || (stat.isFile() && mayHoldRuns(path)));
}

/** Each path with a name of its own: that of its folder, with the folder around it where two are alike. */
function labelled(words: readonly string[]): ViewedPath[] {
  const paths = [...new Set(words.map((word) => at(word)))];
  const nameOf = (path: string) => folderText(basename(path)).replace(/^[^A-Za-z0-9_]+/, '') || 'runs';
  const taken = new Set<string>();
  return paths.map((path) => {
    const isAlone = paths.filter((other) => nameOf(other) === nameOf(path)).length === 1;
    const stem = isAlone ? nameOf(path) : `${nameOf(dirname(path))}-${nameOf(path)}`;
    let label = stem.slice(0, 150);
    for (let count = 2; taken.has(label); count++) label = `${stem.slice(0, 150)}-${count}`;
    taken.add(label);
    return { path, label };
  });
}

/**
 * The runs directory of this user's supervisor that a path is, or the sweep in it; null: it is neither, or belongs to another user,
 * whose supervisor does not answer.
 */
export function ownRunsAt(path: string): { readonly runs: string; readonly sweep: string | null } | null {
  if (isOwnRunsDirectory(path)) return { runs: path, sweep: null };
  const around = dirname(path);
  const isSweep =
    isOwnRunsDirectory(around) && Name.safeParse(basename(path)).success && !basename(path).startsWith('.');
  return isSweep ? { runs: around, sweep: basename(path) } : null;
}

function isOwnRunsDirectory(path: string): boolean {
  // A database is no folder: to ask for a file in it is an error.
  if (statOf(path)?.isDirectory() !== true) return false;
  const stat = lstatSync(join(path, supervisorFiles.directory), { throwIfNoEntry: false });
  return stat !== undefined && stat.isDirectory() && stat.uid === (geteuid?.() ?? 0);
}

/** The runs below the paths, with all that their files say; what was not looked at is said. */
async function openFolders(paths: readonly ViewedPath[]): Promise<FolderFleet> {
  const fleet = new FolderFleet(paths);
  await fleet.find();
  await fleet.read();
  return fleet;
}

/**
 * The same for a report or an export.
 *
 * @throws {UserError} When there are none.
 */
export async function foundRuns(paths: readonly ViewedPath[]): Promise<ReportedRun[]> {
  const fleet = await openFolders(paths);
  if (fleet.status.problem !== null) remark(fleet.status.problem);
  if (fleet.runs.size === 0) throw noRuns(paths, fleet.unread);
  return reportedRuns(fleet, [...fleet.sweeps.keys()]);
}

/** The runs of these sweeps of a fleet of folders, as a report takes them. */
export function reportedRuns(fleet: FolderFleet, sweeps: readonly string[]): ReportedRun[] {
  const runs = [...fleet.runs.values()].filter(({ sweep }) => sweeps.includes(sweep));
  const areSeveral = sweeps.length > 1;
  return runs.map(({ sweep, name, group, subgroup, directory, parameters, state, startedAt, endedAt }) => ({
    ...{ name: areSeveral ? `${sweep}/${name}` : name, group, subgroup, directory, parameters, state },
    ...{ config: readConfig(directory), times: { startedAt, endedAt } },
  }));
}

/** @param unread What is there of programs whose runs are not read: how to export them is said of the first. */
export function noRuns(paths: readonly ViewedPath[], unread: readonly UnreadStore[]): UserError {
  const [first] = paths;
  const where = paths.length === 1 ? first!.path : counted(paths.length, 'path');
  if (unread.length > 0) {
    return new UserError(
      `There are no runs in ${where} that can be read: ${[...new Set(unread.map(unreadWords))].join('; ')}.`,
      unread[0]!.fix,
    );
  }
  return new UserError(
    `There are no runs in ${where}.`,
    'A run is a folder with TensorBoard events, a .wandb file, metrics in JSON lines or CSV, or a run of MLflow, trackio, sacred, guild or DVCLive.',
  );
}

/** Runs and sweeps as a supervisor or folders give them. */
export type KnownFleet = Pick<Fleet, 'runs' | 'sweeps' | 'status'>;

/**
 * Shows runs with their metrics: those of the folders that the words begin with, or else of the runs directory. Gives the words that are
 * left to choose among them.
 */
export async function showRuns(
  words: readonly string[],
  options: CommonOptions,
  show: (fleet: KnownFleet, words: readonly string[]) => number,
): Promise<number> {
  const { paths, rest } = viewedPaths(words, options);
  if (paths.length > 0) return show(await openFolders(paths), rest);
  return withFleet(options, async (fleet) => {
    await recalled(fleet, patienceOf(options));
    return show(fleet, words);
  });
}
