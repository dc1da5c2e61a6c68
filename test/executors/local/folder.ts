import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { readProcesses } from '../../../src/executors/local/process-table.js';
import { killTrees } from '../../../src/executors/local/tree.js';

const folders: string[] = [];

afterEach(() => {
  // Whatever a failed test left running, found by its mark.
  killTrees(folders.map((directory) => ({ pid: 0, startTime: null, directory })));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A run directory that is removed, with all its processes, after the test. */
export function runFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'run-')));
  folders.push(folder);
  return folder;
}

/** Pids of the living processes that carry the directory's mark. */
export function marked(directory: string): number[] {
  return readProcesses()
    .filter((entry) => entry.mark() === directory)
    .map(({ pid }) => pid);
}
