/**
 * Finding and ending everything a run has started.
 *
 * A signal to the process group misses children that made a group or session of their own, and a walk over parents misses
 * orphans. So a run's tree is the union of: the shim's group and session, every descendant, every process that carries the
 * run's mark in its environment, and every process that writes to the run's log.
 */
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import type { ProcessEntry } from './process-table.js';
import { readProcesses } from './process-table.js';

/** The shim of an attempt and the directory of its run. */
export type Tree = {
  pid: number;
  /** Null: not known, and the pid may be anyone's. */ startTime: string | null;
  directory: string;
};

/** Rounds of looking for new members while the known ones stand still; a fork bomb is not worth more. */
const ROUNDS = 10;

/** Living processes of the tree. */
export function treeMembers(processes: readonly ProcessEntry[], tree: Tree): ProcessEntry[] {
  const log = join(tree.directory, runFiles.log);
  const members = new Map<number, ProcessEntry>();
  const leads = isLeader(processes, tree);
  for (const entry of processes) {
    const bySession = leads && (entry.group === tree.pid || entry.session === tree.pid);
    if (bySession || entry.mark() === tree.directory || entry.outputs().includes(log)) members.set(entry.pid, entry);
  }
  addDescendants(processes, members);
  members.delete(process.pid);
  members.delete(1);
  return [...members.values()];
}

/**
 * Kills all trees, together: each is frozen first, until no new member appears, because a parent that still runs may
 * fork faster than it is found. Costs a few readings of the process table, however many trees there are.
 */
export function killTrees(trees: readonly Tree[]): void {
  const frozen = new Set<string>();
  let members: ProcessEntry[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const processes = readProcesses();
    members = trees.flatMap((tree) => treeMembers(processes, tree));
    const found = members.filter((entry) => !frozen.has(keyOf(entry)));
    if (found.length === 0) break;
    for (const entry of found) {
      frozen.add(keyOf(entry));
      send(entry.pid, 'SIGSTOP');
    }
  }
  for (const { pid } of members) send(pid, 'SIGKILL');
}

/** Asks the shim's whole group to end. A stopped process gets the signal only once it goes on. */
export function terminateGroup(pid: number): void {
  send(-pid, 'SIGTERM');
  send(-pid, 'SIGCONT');
}

/** Group and session are the tree's as long as the shim's pid has not gone to someone else. */
function isLeader(processes: readonly ProcessEntry[], { pid, startTime }: Tree): boolean {
  if (startTime === null) return false;
  const holder = processes.find((entry) => entry.pid === pid);
  return holder === undefined || holder.startTime === startTime;
}

function addDescendants(processes: readonly ProcessEntry[], members: Map<number, ProcessEntry>): void {
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const entry of processes) if (members.has(entry.parent)) members.set(entry.pid, entry);
  }
}

function keyOf({ pid, startTime }: ProcessEntry): string {
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
