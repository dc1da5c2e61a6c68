import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { RunSummary } from '../../client/fleet.js';
import { runFiles } from '../../contract/files.js';
import { exitCode, lastClaimed } from '../../files/run-directory/completion-facts.js';
import { entryBelow, readCheckpointRows } from '../../files/disk/checkpoint-paths.js';
import { type Discard, discardOf, keptPaths, leftOver, overlaps } from '../../files/disk/discard.js';
import { readUsage, totalUsage } from '../../files/disk/disk-usage.js';
import { readRunRecord } from '../../files/run-directory/run-record-file.js';
import { describeSources } from '../../metrics/describe-sources.js';
import { openMetrics } from '../../metrics/run-metrics.js';
import { naturalOrder } from '../../text/natural-order.js';
import { lastAttemptAt } from './log-cut.js';

/** What to delete of runs. `failed`: whole runs that failed, were killed or lost; `done`: whole runs that are done. */
export type CleanWish = {
  readonly checkpoints: Pruning | null;
  readonly attempts: boolean;
  readonly logs: boolean;
  readonly failed: boolean;
  readonly done: boolean;
};

/** `cutAt`: the file is replaced by its part from this offset on, bytes. */
export type PlannedItem = {
  readonly kind: 'checkpoint' | 'attempt' | 'log';
  readonly discard: Discard;
  readonly bytes: number;
  readonly cutAt?: number;
};

/** What is deleted of one run. `all`: its whole directory. `left`: remains of an interrupted deletion, absolute paths. */
export type RunPlan = {
  readonly run: RunSummary;
  readonly all: boolean;
  readonly items: readonly PlannedItem[];
  readonly left: readonly string[];
  /** Size on the disk. */
  readonly bytes: number;
  /** Why some parts are kept, in words. */
  readonly remarks: readonly string[];
};

/** What can be deleted of an ended run; reads its directory, and changes nothing. */
export function planOf(run: RunSummary, wish: CleanWish, doneFile: string | null): RunPlan {
  const { directory, state } = run;
  const isThere = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
  if ((state === 'done' ? wish.done : wish.failed) && isThere) {
    const left = leftOver(directory, []);
    return { run, all: true, items: [], left, bytes: sizeOf([directory, ...left]), remarks: [] };
  }
  return partsOf(run, wish, doneFile);
}

function partsOf(run: RunSummary, wish: CleanWish, doneFile: string | null): RunPlan {
  const { directory } = run;
  const remarks: string[] = [];
  const checkpoints = wish.checkpoints === null ? noCheckpoints : checkpointsOf(directory, wish.checkpoints);
  const kept = keptPaths(directory, doneFile);
  const found = [
    ...checkpoints.prunable.filter(isNotOurs).flatMap((path) => itemOf('checkpoint', directory, path)),
    ...(wish.attempts ? attemptItems(directory) : []),
    ...(wish.logs || wish.attempts ? logItems(directory, wish, remarks) : []),
  ];
  const items = outermost(found.filter(({ discard }) => !kept.some((path) => overlaps(path, discard.path))));
  if (doneFile !== null && found.some(({ discard }) => overlaps(doneFile, discard.path))) {
    remarks.push(`${doneFile} stays: it says that the run is done`);
  }
  const left = leftOf(directory, checkpoints);
  return { run, all: false, items, left, bytes: items.reduce((sum, { bytes }) => sum + bytes, sizeOf(left)), remarks };
}

/**
 * Whether a path may be a checkpoint: the log and attempts, which the manager writes, are not, whatever a pattern matches; they
 * have options of their own.
 */
function isNotOurs(path: string): boolean {
  return [runFiles.log, runFiles.attempts].every((own) => !overlaps(path, own));
}

/** Size on the disk in bytes. */
function sizeOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + totalUsage(readUsage(path)), 0);
}

/** Whether a plan deletes nothing. */
export function isNothing({ all, items, left }: RunPlan): boolean {
  return !all && items.length === 0 && left.length === 0;
}

function itemOf(kind: PlannedItem['kind'], directory: string, path: string): PlannedItem[] {
  const discard = discardOf(directory, path);
  return discard === null ? [] : [{ kind, discard, bytes: bytesOf(directory, path) }];
}

/** Size in bytes; a file with another hard link is not freed and counts as 0. */
function bytesOf(directory: string, path: string): number {
  const stat = entryBelow(directory, path);
  if (stat === null || stat.isDirectory()) return totalUsage(readUsage(join(directory, path)));
  return stat.nlink > 1 ? 0 : stat.blocks * 512;
}

/** Folders of attempts before the last with a known end: the others may be needed to find live processes. */
function attemptItems(directory: string): PlannedItem[] {
  const earlier = Array.from({ length: Math.max(0, lastClaimed(directory) - 1) }, (_, index) => index + 1);
  return earlier
    .filter((attempt) => exitCode(directory, attempt) !== null)
    .flatMap((attempt) => itemOf('attempt', directory, join(runFiles.attempts, String(attempt))));
}

/** The whole log, or its part of earlier attempts; kept if the run's metrics are only in it. */
function logItems(directory: string, { logs }: CleanWish, remarks: string[]): PlannedItem[] {
  const [log] = itemOf('log', directory, runFiles.log);
  const cutAt = logs ? 0 : lastAttemptAt(join(directory, runFiles.log));
  if (log === undefined || log.discard.size === 0 || cutAt === null || (!logs && cutAt === 0)) return [];
  if (hasMetricsIn(directory, runFiles.log)) {
    remarks.push(`${runFiles.log} stays: the run's metrics are in it`);
    return [];
  }
  if (logs) return [log];
  return [{ ...log, cutAt, bytes: Math.max(0, Math.floor((log.bytes * cutAt) / log.discard.size)) }];
}

function hasMetricsIn(directory: string, file: string): boolean {
  const { sources } = describeSources(openMetrics(directory).readNow());
  return sources.some(({ state, files }) => state === 'told' && files.some((each) => each.endsWith(file)));
}

function leftOf(directory: string, { kept }: Checkpoints): string[] {
  const inside = ['', runFiles.checkpointDirectory, runFiles.attempts, ...kept.map((path) => dirname(path))];
  return leftOver(directory, [...new Set(inside.map((folder) => (folder === '.' ? '' : folder)))]);
}

const noCheckpoints: Checkpoints = { prunable: [], kept: [] };

/** Items that are not inside another one. */
function outermost(items: readonly PlannedItem[]): PlannedItem[] {
  const paths = new Set(items.map(({ discard }) => discard.path));
  const isInside = (path: string): boolean => path !== '.' && (paths.has(path) || isInside(dirname(path)));
  return items.filter(({ discard }) => !isInside(dirname(discard.path)));
}

/**
 * `keep`: number of the last checkpoints to keep, at least one. `pattern`: their paths, for a program without `checkpoints.jsonl`.
 */
type Pruning = { readonly keep: number; readonly pattern: string | null };

/** Unneeded and kept checkpoints; relative paths. */
type Checkpoints = { readonly prunable: readonly string[]; readonly kept: readonly string[] };

/**
 * The checkpoints of a run, by its `checkpoints.jsonl`, or else by the pattern. Of the list, the last rows are kept, and the last
 * value of each key (a program resumes from the last row with a `state_path`); of the pattern, those that were written last; and
 * the target of any link in the run's directory.
 */
function checkpointsOf(directory: string, { keep, pattern }: Pruning): Checkpoints {
  const listed = listedOf(directory, keep);
  const found = pattern === null ? [] : matching(directory, pattern);
  const stay = found.slice(-keep);
  const kept = [...new Set([...listed.kept, ...stay, ...linkTargets(directory)])];
  const candidates = [...new Set([...listed.earlier, ...found.slice(0, -keep)])];
  return { prunable: candidates.filter((path) => !kept.some((other) => overlaps(path, other))), kept };
}

function listedOf(directory: string, keep: number): { earlier: string[]; kept: string[] } {
  const rows = readCheckpointRows(directory, readRunRecord(directory)?.cwd ?? null);
  const last = rows.slice(-keep).flatMap((row) => [...row.values()]);
  const byKey = new Map(rows.flatMap((row) => [...row]));
  return { earlier: rows.slice(0, -keep).flatMap((row) => [...row.values()]), kept: [...last, ...byKey.values()] };
}

/** Matching files and folders, the last written one at the end. `*` and `?` match within one name. */
function matching(directory: string, pattern: string): string[] {
  let paths = [''];
  for (const part of pattern.split('/').filter((name) => name !== '' && name !== '.')) {
    const test = new RegExp(
      `^${part
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replaceAll('*', '[^]*')
        .replaceAll('?', '[^]')}$`,
    );
    paths = paths.flatMap((path) =>
      namesIn(join(directory, path))
        .filter((name) => test.test(name) && (!name.startsWith('.') || part.startsWith('.')))
        .map((name) => (path === '' ? name : join(path, name)))
        .filter((each) => entryBelow(directory, each) !== null),
    );
  }
  const written = new Map(paths.map((path) => [path, lastWrite(join(directory, path))]));
  return paths.filter((path) => path !== '').sort((a, b) => written.get(a)! - written.get(b)! || naturalOrder(a, b));
}

/** Modification time of the newest file in it, ms. */
function lastWrite(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return namesIn(path).reduce((latest, name) => Math.max(latest, lastWrite(join(path, name))), 0);
}

/** Targets of links, with which programs mark their last or best checkpoint. */
function linkTargets(directory: string): string[] {
  const folders = ['', ...namesIn(directory).filter((name) => entryBelow(directory, name)?.isDirectory() === true)];
  const links = folders.flatMap((folder) => namesIn(join(directory, folder)).map((name) => join(folder, name)));
  return links.flatMap((path) => {
    try {
      if (!lstatSync(join(directory, path)).isSymbolicLink()) return [];
      const target = relative(realpathSync(directory), realpathSync(join(directory, path)));
      return target === '' || target.startsWith(`..${sep}`) ? [] : [target];
    } catch {
      // The link is dangling.
      return [];
    }
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
