/** What can be done with the cgroup (version 2) of an attempt: it holds every process of the run, however far it strayed. */
import { existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join, normalize, relative } from 'node:path';

/**
 * The folder of a process's cgroup; null when it has none that can be seen from here.
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

/** Whether a path in a claim can be one of ours: a torn or foreign file must not make us kill a login session. */
export function isRunCgroup(path: string): boolean {
  return /^\/.+\/memrl\/[0-9a-f]{12}\/[^/]+$/.test(path) && normalize(path) === path;
}

/** Pids of all processes in it and below, dead ones that nobody has asked after left out. Empty when it is gone. */
export function cgroupPids(path: string): number[] {
  const own = readOr(join(path, 'cgroup.procs'), '').split('\n').map(Number);
  return [...own.filter((pid) => pid > 0), ...children(path).flatMap(cgroupPids)];
}

/**
 * Kills all of it at once, 0.2 ms; nothing can fork away.
 *
 * @returns False where the kernel (before 5.14) cannot: it is frozen then, and its processes have to be killed one by one.
 */
export function killCgroup(path: string): boolean {
  if (existsSync(join(path, 'cgroup.kill'))) return written(join(path, 'cgroup.kill'), '1');
  freezeCgroup(path);
  return false;
}

/** Stops all of it. False when it cannot be frozen. */
export function freezeCgroup(path: string): boolean {
  return written(join(path, 'cgroup.freeze'), '1');
}

export function thawCgroup(path: string): boolean {
  return written(join(path, 'cgroup.freeze'), '0');
}

/** False while processes live in it. That it is gone already is fine. */
export function removeCgroup(path: string): boolean {
  if (isRemoved(path)) return true;
  // Told at once, and a thousand live ones are asked when a supervisor comes up; to list one takes longer.
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

/** How many of its processes the kernel killed for want of memory; 0 where memory is not watched. */
export function oomKillsOf(path: string): number {
  return Number(/^oom_kill (\d+)$/m.exec(readOr(join(path, 'memory.events'), ''))?.[1] ?? 0);
}

/** A space in a path is `\040` there. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** Whether processes live in it, or anywhere below it. */
function isPopulated(path: string): boolean {
  return /^populated 1$/m.test(readOr(join(path, 'cgroup.events'), ''));
}

/** A run may have divided its cgroup itself. */
function children(path: string): string[] {
  try {
    const folders = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return folders.map(({ name }) => join(path, name));
  } catch {
    return [];
  }
}

function written(file: string, text: string): boolean {
  try {
    writeFileSync(file, text);
    return true;
  } catch {
    return false;
  }
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}
