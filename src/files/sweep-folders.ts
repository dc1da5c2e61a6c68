import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles, sweepTexts } from '../contract/files.js';

/** Limits on the folders that are searched, as a directory may hold a million entries. */
const MOST_SWEEPS = 1000;
const MOST_RUNS = 1000;

/**
 * Names of the sweeps in a runs directory, by its files alone. Other programs may write there as well (TensorBoard's `./runs`): a
 * folder without a sweep's text is a sweep only if one of its runs was started.
 */
export function sweepsOnDisk(runsDirectory: string): string[] {
  return foldersIn(runsDirectory)
    .slice(0, MOST_SWEEPS)
    .filter(
      (name) =>
        sweepTexts.some((text) => existsSync(join(runsDirectory, name, text))) || hasRuns(join(runsDirectory, name)),
    );
}

/**
 * Names of the folders below a directory, without hidden ones. Empty if it is missing or not readable; errors are reported when a
 * run's own directory is read.
 */
export function foldersIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    // A run may have been moved to another disk, and linked.
    const isFolder = (entry: Dirent) => entry.isDirectory() || entry.isSymbolicLink();
    return entries.filter((entry) => isFolder(entry) && !entry.name.startsWith('.')).map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Whether runs of the sweep were started. */
export function hasRuns(sweepDirectory: string): boolean {
  return foldersIn(sweepDirectory)
    .slice(0, MOST_RUNS)
    .map((run) => join(sweepDirectory, run))
    .some((run) => existsSync(join(run, runFiles.record)) || existsSync(join(run, runFiles.attempts)));
}
