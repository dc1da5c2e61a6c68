import { readdirSync } from 'node:fs';
import { uptime } from 'node:os';
import { addTo } from '../base/group-by.js';
import { readProcFile } from './proc-file.js';

/** What one process has used of the machine, as /proc/PID/stat has it. */
export type ProcessUsage = {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Clock ticks since boot. */
  readonly startTime: number;
  /** Of computing time, its own and that of the children it has waited for. */
  readonly ticks: number;
  /** Of memory that is in RAM. */
  readonly pages: number;
};

/** What a run's processes use together. */
export type TreeUsage = {
  /** Clock ticks of computing time since the run began. */
  readonly ticks: number;
  /** MiB in RAM. Pages that several processes share are counted once for each, as `top` does. */
  readonly memory: number;
  /** When the root was started: clock ticks since boot. */
  readonly since: number;
};

/** Linux counts times by these for whoever asks, whatever the kernel's own clock is (USER_HZ). */
export const TICKS_PER_SECOND = 100;

/** Clock ticks since boot. */
export function ticksNow(): number {
  return uptime() * TICKS_PER_SECOND;
}

/** Fields counted from behind the name, which may hold spaces and parentheses; null for what is no such line. */
export function parseUsage(text: string): ProcessUsage | null {
  const end = text.lastIndexOf(')');
  const fields = end < 0 ? [] : text.slice(end + 2).split(' ');
  const at = (index: number): number => Number(fields[index]);
  const usage = {
    ...{ pid: Number.parseInt(text, 10), parent: at(1), session: at(3), startTime: at(19) },
    ...{ ticks: at(11) + at(12) + at(13) + at(14), pages: at(21) },
  };
  return Object.values(usage).every(Number.isFinite) ? usage : null;
}

/** Pids of all processes; none where there is no /proc. */
export function pidsNow(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Null when it has gone. About 15 µs. */
export function readUsage(pid: number): ProcessUsage | null {
  const bytes = readProcFile(`/proc/${pid}/stat`);
  return bytes === null ? null : parseUsage(bytes.toString('latin1'));
}

/**
 * What the processes of each root use together: those it has started, and theirs, and those of a session that one of them
 * leads. Whoever has left them for another session and another parent is not counted.
 *
 * @param roots By whatever tells trees apart: the pid of the root. One that is not among the processes is left out.
 */
export function treeUsages<Key>(
  processes: readonly ProcessUsage[],
  roots: ReadonlyMap<Key, number>,
): Map<Key, TreeUsage> {
  const byPid = new Map(processes.map((each) => [each.pid, each]));
  const kin = new Map<number, ProcessUsage[]>();
  for (const each of processes) {
    addTo(kin, each.parent, each);
    if (each.session !== each.pid) addTo(kin, each.session, each);
  }
  const usages = new Map<Key, TreeUsage>();
  for (const [key, pid] of roots) {
    const root = byPid.get(pid);
    if (root !== undefined) usages.set(key, usageOf(root, kin));
  }
  return usages;
}

function usageOf(root: ProcessUsage, kin: ReadonlyMap<number, readonly ProcessUsage[]>): TreeUsage {
  const members = new Set([root]);
  // A set that grows while it is walked is walked to its end.
  for (const { pid } of members) for (const each of kin.get(pid) ?? []) members.add(each);
  let [ticks, pages] = [0, 0];
  for (const each of members) {
    ticks += each.ticks;
    pages += each.pages;
  }
  return { ticks, memory: (pages * pageBytes()) / 2 ** 20, since: root.startTime };
}

let knownPage: number | null = null;

/** Bytes of a page of memory: what this process holds in bytes over what it holds in pages, which is near a power of two. */
function pageBytes(): number {
  if (knownPage === null) {
    const pages = readUsage(process.pid)?.pages ?? 0;
    knownPage = pages === 0 ? 4096 : 2 ** Math.round(Math.log2(process.memoryUsage.rss() / pages));
  }
  return knownPage;
}
