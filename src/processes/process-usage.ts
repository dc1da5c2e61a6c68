import { readdirSync } from 'node:fs';
import { uptime } from 'node:os';
import { addTo } from '../base/group-by.js';
import { readProcFile } from './proc-file.js';
import { withSpareDescriptors } from '../files/spare-descriptor.js';

/** Resource usage of one process by /proc/PID/stat. */
export type ProcessUsage = {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Clock ticks since boot. */
  readonly startTime: number;
  /** CPU time in clock ticks, its own and that of the children it has waited for. */
  readonly ticks: number;
  /** Resident memory in pages. */
  readonly pages: number;
};

/** Resource usage of all processes of a run. */
export type TreeUsage = {
  /** CPU time in clock ticks since the run began. */
  readonly ticks: number;
  /** Resident memory in MiB. Shared pages are counted once for each process, as in `top`. */
  readonly memory: number;
  /** Start of the root process, in clock ticks since boot. */
  readonly since: number;
};

/** The unit of times in /proc on Linux (USER_HZ), whatever the kernel's own clock is. */
export const TICKS_PER_SECOND = 100;

/** The present time in clock ticks since boot. */
export function ticksNow(): number {
  return uptime() * TICKS_PER_SECOND;
}

/** Parses the fields after the name, which may contain spaces and parentheses; null: the line is malformed. */
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

/** Pids of all processes; empty if there is no /proc. */
export function pidsNow(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** The usage of a process; null: it has ended. Takes about 15 µs. */
export function readUsage(pid: number): ProcessUsage | null {
  const bytes = readProcFile(`/proc/${pid}/stat`);
  return bytes === null ? null : parseUsage(bytes.toString('latin1'));
}

/**
 * Total usage of each tree: the root, its descendants, and members of sessions that one of them leads. A process that left for
 * another session and another parent is not counted.
 *
 * @param roots Pid of the root for each key. A root that is not among the processes is left out.
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
  // The iteration includes members that are added meanwhile.
  for (const { pid } of members) for (const each of kin.get(pid) ?? []) members.add(each);
  let [ticks, pages] = [0, 0];
  for (const each of members) {
    ticks += each.ticks;
    pages += each.pages;
  }
  return { ticks, memory: (pages * pageBytes()) / 2 ** 20, since: root.startTime };
}

let knownPage: number | null = null;

/** Size of a memory page in bytes: this process's memory in bytes divided by that in pages, rounded to a power of two. */
function pageBytes(): number {
  if (knownPage === null) {
    const pages = readUsage(process.pid)?.pages ?? 0;
    const bytes = withSpareDescriptors(() => process.memoryUsage.rss());
    knownPage = pages === 0 ? 4096 : 2 ** Math.round(Math.log2(bytes / pages));
  }
  return knownPage;
}
