import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import { type CgroupHome, OomWatch, openCgroupHome } from '../../../src/executors/local/cgroup-home.js';
import type { Ending, ExecutorListener, LeakedProcess } from '../../../src/executors/executor.js';
import { LocalExecutor } from '../../../src/executors/local/local-executor.js';
import { makeFolder } from '../../../src/files/make-folder.js';
import { killCgroup, removeCgroup } from '../../../src/processes/cgroup.js';
import { type ProcessEntry, readProcesses } from '../../../src/processes/process-table.js';
import { runEnvironment } from '../../../src/supervisor/runs/launcher.js';
import { waitFor } from '../../supervisor/testbed.js';
import { isDeserted, removeFolder } from '../../remove-folder.js';

const folders: string[] = [];
const executors: LocalExecutor[] = [];
const homes: CgroupHome[] = [];

/** To be called where the first of these is made: a hook of this module would be one of the first file alone that imports it. */
function clearedAfterwards(): void {
  if (folders.length + executors.length + homes.length === 0) onTestFinished(clear);
}

async function clear(): Promise<void> {
  for (const executor of executors.splice(0)) executor.close();
  // Whatever a test left running.
  await waitFor('nothing to be left', () => folders.map(isDeserted).every(Boolean));
  for (const home of homes.splice(0)) await waitFor('the end of all cgroups', () => isGone(home));
  for (const folder of folders.splice(0)) removeFolder(folder);
}

/** Whatever a failed test left running, found by its cgroup. */
function isGone(home: CgroupHome): boolean {
  killCgroup(home.path);
  removeCgroup(home.path);
  home.close();
  return !existsSync(home.path);
}

/** The directory of a run in a runs directory that is removed, with all its processes, after the test. */
export function runFolder(): string {
  const runs = realpathSync(mkdtempSync(join(tmpdir(), 'runs-')));
  // Some tests give the directory of the run to another user.
  chmodSync(runs, 0o755);
  clearedAfterwards();
  folders.push(runs);
  const folder = join(runs, 's', 'run');
  makeFolder(folder);
  return folder;
}

/**
 * Whether a process is stopped. A shell that was just starting a program waits for that one (vfork), which is stopped in its place.
 */
export function isStopped(one: ProcessEntry, all: readonly ProcessEntry[]): boolean {
  return one.state === 'T' || (one.state === 'D' && all.some((each) => each.parent === one.pid && each.state === 'T'));
}

/** Pids of the living processes that carry the directory's mark. */
export function marked(directory: string): number[] {
  return readProcesses()
    .filter((entry) => entry.mark() === directory)
    .map(({ pid }) => pid);
}

export const id = RunId.parse('s/run');

export function orderFor(directory: string, argv: string[], attempt = 1) {
  const environment = runEnvironment(
    { PATH: process.env['PATH']!, HOME: '/' },
    {},
    { gpus: [], threads: 2 },
    { id, directory, attempt },
  );
  const needs = { gpus: 0, gpuMemory: null, cpus: 2 };
  return { directory, attempt, argv, cwd: directory, environment, needs };
}

/** Another test may be out of memory at this moment. */
const neverOutOfMemory = () => new OomWatch(() => 0);

/** One that is closed after the test, with all that it started. */
export function executorFor(
  listener: ExecutorListener,
  home: CgroupHome | null = null,
  oom = neverOutOfMemory(),
): LocalExecutor {
  const executor = new LocalExecutor(listener, home, oom);
  clearedAfterwards();
  executors.push(executor);
  return executor;
}

/** An executor, the endings it told of and what it said of living runs, oldest first. */
export function newExecutor(home: CgroupHome | null = null, oom = neverOutOfMemory(), mayGiveUp = () => true) {
  const endings: Ending[] = [];
  const survivors: LeakedProcess[] = [];
  const suspects: number[] = [];
  const troubles: (string | null)[] = [];
  const listener: ExecutorListener = {
    ended: (_id, _attempt, ending, left) => {
      endings.push(ending);
      // Other tests start daemons at the same time.
      survivors.push(...left.filter(({ possible }) => possible !== true));
      suspects.push(...left.filter(({ possible }) => possible === true).map(({ pid }) => pid));
    },
    changed: () => undefined,
    troubled: (_id, words) => void (words === troubles.at(-1) || troubles.push(words)),
    mayGiveUp,
  };
  const executor = executorFor(listener, home, oom);
  const untilEnded = () => waitFor('the end of the run', () => endings.at(-1));
  return { executor, endings, survivors, suspects, troubles, untilEnded };
}

export const log = (directory: string) => readFileSync(join(directory, 'output.log'), 'utf8');

export function untilLogged(directory: string, text: string) {
  return waitFor(`"${text}" in the log`, () => log(directory).includes(text));
}

/** A place for cgroups of runs in this directory, removed after the test with all that is in them. */
export function newHome(directory: string): CgroupHome {
  const home = openCgroupHome(directory);
  if (home === null) throw new Error('cgroups cannot be made here');
  clearedAfterwards();
  homes.push(home);
  return home;
}

const here = openCgroupHome(realpathSync(tmpdir()));
here?.close();

/** Both ways of knowing what belongs to a run; one where cgroups cannot be made, which is said loudly. */
export const waysOfHolding: { how: string; home: (directory: string) => CgroupHome | null }[] = [
  { how: 'without a cgroup', home: () => null },
  ...(here === null ? [] : [{ how: 'in a cgroup', home: newHome }]),
];

/** Whether cgroups can be made here. Says loudly which tests are left out when not. */
export function hasCgroups(needed: string): boolean {
  if (here === null) console.warn(`SKIPPED, because cgroups (version 2) may not be made here: ${needed}`);
  return here !== null;
}
