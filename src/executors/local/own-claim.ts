/**
 * Whether what the claim of an attempt names is the run's own. The file lies in the directory of the run, where the run itself and
 * members of the user's group may write: it must not tell us to watch, signal or kill anything else.
 */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { cgroupPids } from '../../processes/cgroup.js';
import { readProcFile } from '../../processes/proc-file.js';
import { readProcess } from '../../processes/process-table.js';

/** Whether a process has the mark of the run. One that has ended, or whose environment cannot be read, is believed. */
export function isProcessOf(directory: string, pid: number): boolean {
  const mark = readProcess(pid)?.mark();
  if (mark === undefined) return true;
  if (mark === null) return pid > 1 && readProcFile(`/proc/${pid}/environ`) === null;
  return isSameRun(mark, directory);
}

/** Whether a cgroup is not that of another run: one of its processes has the mark of this run, or none has the mark of another. */
export function isCgroupOf(directory: string, cgroup: string): boolean {
  let isOfOther = false;
  for (const pid of cgroupPids(cgroup)) {
    const mark = readProcess(pid)?.mark() ?? null;
    if (mark !== null && isSameRun(mark, directory)) return true;
    isOfOther ||= mark !== null;
  }
  return !isOfOther;
}

/** A runs directory may have been moved, or be reached by another path, since the run began. */
function isSameRun(mark: string, directory: string): boolean {
  if (mark === directory) return true;
  if (nameIn(mark) !== nameIn(directory)) return false;
  return !existsSync(mark) || isSameFolder(mark, directory);
}

function isSameFolder(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

/** Sweep and name of the run with this directory. */
function nameIn(directory: string): string {
  return `${basename(dirname(directory))}/${basename(directory)}`;
}
