import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles, sweepTexts } from '../contract/files.js';

/** Of a directory that holds a million entries, so many folders are looked into. */
const MOST_SWEEPS = 1000;
const MOST_RUNS = 1000;

/**
 * Names of the sweeps in a runs directory, by its files alone. A program may write there as well (TensorBoard's `./runs`): a
 * folder without a sweep's text is a sweep only if it has a run that was started.
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
 * Names of the folders below a directory, without those of ours that begin with a dot. None where it is not there yet, or closed
 * to us: what stands in the way of a run is said when its own directory is read.
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

/** Whether runs of it were started. */
export function hasRuns(sweepDirectory: string): boolean {
  return foldersIn(sweepDirectory)
    .slice(0, MOST_RUNS)
    .map((run) => join(sweepDirectory, run))
    .some((run) => existsSync(join(run, runFiles.record)) || existsSync(join(run, runFiles.attempts)));
}
