/** Operations on the cgroup (version 2) of an attempt, which contains every process of the run, even daemons. */
import { existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join, normalize, relative } from 'node:path';
import { withSpareDescriptors } from '../files/spare-descriptor.js';

/**
 * The folder of a process's cgroup; null: it has none that is visible here.
 *
 * @param mounts Text of /proc/self/mountinfo. @param groups Text of /proc/PID/cgroup.
 */
export function cgroupFolder(mounts: string, groups: string): string | null {
  const group = /^0::(\/.*)$/m.exec(groups)?.[1];
  if (group === undefined) return null;
  for (const line of mounts.split('\n')) {
    const [, root, folder] = /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup2 /.exec(line) ?? [];
    if (root === undefined || folder === undefined) continue;
    const below = relative(unescaped(root), group);
    if (!below.startsWith('..')) return join(unescaped(folder), below);
  }
  return null;
}

/** Whether a path in a claim can be a run's cgroup: a damaged or foreign file must not cause a login session to be killed. */
export function isRunCgroup(path: string): boolean {
  return /^\/.+\/memrl\/[0-9a-f]{12}\/[^/]+$/.test(path) && normalize(path) === path;
}

/** Pids of all processes in it and below, without zombies. Empty when it is gone. */
export function cgroupPids(path: string): number[] {
  const own = readOr(join(path, 'cgroup.procs'), '').split('\n').map(Number);
  return [...own.filter((pid) => pid > 0), ...children(path).flatMap(cgroupPids)];
}

/**
 * Kills all its processes at once, in 0.2 ms, so that none can escape by a fork.
 *
 * @returns False if the kernel (before 5.14) cannot do that: then the cgroup is frozen, and its processes have to be killed one by
 * one.
 */
export function killCgroup(path: string): boolean {
  if (existsSync(join(path, 'cgroup.kill'))) return written(join(path, 'cgroup.kill'), '1');
  freezeCgroup(path);
  return false;
}

/** Freezes all its processes. False: it cannot be frozen. */
export function freezeCgroup(path: string): boolean {
  return written(join(path, 'cgroup.freeze'), '1');
}

export function thawCgroup(path: string): boolean {
  return written(join(path, 'cgroup.freeze'), '0');
}

/** Removes a cgroup; false while it has processes. True if it is gone already. */
export function removeCgroup(path: string): boolean {
  if (isRemoved(path)) return true;
  // A quick test, as a starting supervisor checks a thousand live ones, and listing each takes longer.
  if (isPopulated(path)) return false;
  for (const child of children(path)) removeCgroup(child);
  return isRemoved(path);
}

function isRemoved(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** The number of its processes that the kernel killed for lack of memory; 0 if the memory controller is off. */
export function oomKillsOf(path: string): number {
  return Number(/^oom_kill (\d+)$/m.exec(readOr(join(path, 'memory.events'), ''))?.[1] ?? 0);
}

/** Replaces escapes: a space in a path is `\040` in mountinfo. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** Whether it or any cgroup below it has processes. */
function isPopulated(path: string): boolean {
  return /^populated 1$/m.test(readOr(join(path, 'cgroup.events'), ''));
}

/** The cgroups below it, as a run may have divided its own. */
function children(path: string): string[] {
  try {
    const entries = withSpareDescriptors(() => readdirSync(path, { withFileTypes: true }));
    const folders = entries.filter((entry) => entry.isDirectory());
    return folders.map(({ name }) => join(path, name));
  } catch {
    return [];
  }
}

function written(file: string, text: string): boolean {
  try {
    withSpareDescriptors(() => writeFileSync(file, text));
    return true;
  } catch {
    return false;
  }
}

function readOr(file: string, otherwise: string): string {
  try {
    return withSpareDescriptors(() => readFileSync(file, 'utf8'));
  } catch {
    return otherwise;
  }
}
