/**
 * Finding and signalling everything a run has started.
 *
 * A signal to the process group misses children that made a group or session of their own, and a walk over parents misses
 * orphans. So a run's tree is the union of: its cgroup, the shim's group and session, every process that carries the run's
 * mark in its environment, every one that writes to the run's log, every stray (see `isStray`), every one that was once seen
 * to descend from the shim, and of all these the descendants, groups and sessions.
 */
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { cgroupPids, freezeCgroup, killCgroup, thawCgroup } from './cgroup.js';
import type { ProcessEntry } from './process-table.js';
import { readProcesses } from './process-table.js';

/** The shim of an attempt and the directory of its run. */
export type Tree = {
  pid: number;
  /** Null: not known, and the pid may be anyone's. */ startTime: string | null;
  directory: string;
  /** Absent or null: it has none of its own. */
  cgroup?: string | null;
  /** Processes that were seen to descend from the shim while it lived, as `keyOf` names them. */
  seen?: ReadonlySet<string>;
};

/** Rounds of looking for new members while the known ones stand still; a fork bomb is not worth more. */
const ROUNDS = 10;

/** Living processes of the tree. */
export function treeMembers(processes: readonly ProcessEntry[], tree: Tree): ProcessEntry[] {
  const isFound = finder(processes, tree);
  const members = new Map(processes.filter(isFound).map((entry) => [entry.pid, entry]));
  addKin(processes, members);
  members.delete(process.pid);
  members.delete(1);
  return [...members.values()];
}

/** Tells of a process whether it shows by itself that it is of the tree. */
function finder(processes: readonly ProcessEntry[], tree: Tree): (entry: ProcessEntry) => boolean {
  const { pid, directory, cgroup, seen } = tree;
  const log = join(directory, runFiles.log);
  const grouped = new Set(cgroup ? cgroupPids(cgroup) : []);
  const leads = isLeader(processes, tree);
  const isNear = (entry: ProcessEntry) => leads && (entry.group === pid || entry.session === pid);
  const isKnown = (entry: ProcessEntry) => grouped.has(entry.pid) || (seen?.has(keyOf(entry)) ?? false);
  const isMarked = (entry: ProcessEntry) => entry.mark() === directory || entry.outputs().includes(log);
  return (entry) => isNear(entry) || isKnown(entry) || isMarked(entry) || isStray(entry, tree);
}

/**
 * Kills all trees, together: each is frozen first, until no new member appears, because a parent that still runs may
 * fork faster than it is found. Costs a few readings of the process table, however many trees there are.
 */
export function killTrees(trees: readonly Tree[]): void {
  for (const { cgroup } of trees) if (cgroup) killCgroup(cgroup);
  for (const { pid } of stop(trees)) send(pid, 'SIGKILL');
}

/** Asks everything in the trees to end. What is stopped gets the signal only once it goes on, so it does. */
export function terminateTrees(trees: readonly Tree[]): void {
  const processes = readProcesses();
  for (const tree of trees) {
    const members = treeMembers(processes, tree);
    const leads = isLeader(processes, tree) && members.some(({ group }) => group === tree.pid);
    // The group gets it as one, before any member can react to the end of another.
    const targets = members.filter(({ group }) => !leads || group !== tree.pid).map(({ pid }) => pid);
    if (leads) targets.unshift(-tree.pid);
    for (const target of targets) send(target, 'SIGTERM');
    for (const target of targets) send(target, 'SIGCONT');
    if (tree.cgroup) thawCgroup(tree.cgroup);
  }
}

/** Makes the trees stand still, with all they hold: memory, files, GPU memory. */
export function pauseTrees(trees: readonly Tree[]): void {
  const unfrozen = trees.filter(({ cgroup }) => {
    if (!cgroup || !freezeCgroup(cgroup)) return true;
    // A shim that has not entered it yet is stopped by hand, too.
    return cgroupPids(cgroup).length === 0;
  });
  stop(unfrozen);
}

/** Undoes `pauseTrees`, also that of an earlier supervisor. */
export function continueTrees(trees: readonly Tree[]): void {
  for (const { cgroup } of trees) if (cgroup) thawCgroup(cgroup);
  const processes = readProcesses();
  for (const tree of trees) for (const { pid } of treeMembers(processes, tree)) send(pid, 'SIGCONT');
}

/** Stops every member, and those that appear meanwhile. */
function stop(trees: readonly Tree[]): ProcessEntry[] {
  const stopped = new Set<string>();
  let members: ProcessEntry[] = [];
  for (let round = 0; round < ROUNDS && trees.length > 0; round++) {
    const processes = readProcesses();
    members = trees.flatMap((tree) => treeMembers(processes, tree));
    const found = members.filter((entry) => !stopped.has(keyOf(entry)));
    if (found.length === 0) break;
    for (const entry of found) {
      stopped.add(keyOf(entry));
      send(entry.pid, 'SIGSTOP');
    }
  }
  return members;
}

/** Group and session are the tree's as long as the shim's pid has not gone to someone else. */
function isLeader(processes: readonly ProcessEntry[], { pid, startTime }: Tree): boolean {
  if (startTime === null) return false;
  const holder = processes.find((entry) => entry.pid === pid);
  return holder === undefined || holder.startTime === startTime;
}

/**
 * A daemon that has left its session, and shows in some other way where it comes from: it writes to the run's log, or it has
 * emptied its environment and works, or writes, in the run's directory.
 *
 * The directory alone would be too weak: a person's shell, editor or tmux may have been started there. But what a person
 * starts has a terminal or at least a HOME, and what was there before the run was not started by it.
 */
export function isStray(entry: ProcessEntry, { directory, startTime }: Tree): boolean {
  if (entry.terminal || startTime === null || Number(entry.startTime) < Number(startTime)) return false;
  // It is of another run.
  if (entry.mark() !== null) return false;
  const isBelow = (path: string) => path === directory || path.startsWith(`${directory}/`);
  if (entry.writes().includes(join(directory, runFiles.log))) return true;
  return entry.isWiped() && [entry.cwd() ?? '', ...entry.writes()].some(isBelow);
}

/** Descendants of members, and those whose group or session a member leads. */
function addKin(processes: readonly ProcessEntry[], members: Map<number, ProcessEntry>): void {
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const entry of processes) {
      if (members.has(entry.parent) || members.has(entry.group) || members.has(entry.session)) {
        members.set(entry.pid, entry);
      }
    }
  }
}

/** One process of all that are and were since the machine started. */
export function keyOf({ pid, startTime }: Pick<ProcessEntry, 'pid' | 'startTime'>): string {
  return `${pid} ${startTime}`;
}

/** Signals a process or (negative) a group. That it is gone already is what we want anyway. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone, or not ours to signal.
  }
}
