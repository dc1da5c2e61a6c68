import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles, sweepFiles } from '../contract/files.js';

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
    .filter((name) => existsSync(join(runsDirectory, name, sweepFiles.text)) || hasRuns(join(runsDirectory, name)));
}

/** Folders that are not hidden; none where there is no such directory. */
export function foldersIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
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
