/**
 * Finding and signalling everything a run has started.
 *
 * A signal to the process group misses children that made a group or session of their own, and a walk over parents misses
 * orphans. So a run's tree is the union of: its cgroup, the shim's group and session, every process that carries the run's
 * mark in its environment, every one without a mark whose output goes to the run's log, every stray (see `isStray`), every one
 * that was once seen to descend from the shim, and of all these the descendants, groups and sessions.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { addTo, groupBy, groupByEach } from '../base/group-by.js';
import { runFiles } from '../contract/files.js';
import { cgroupPids, freezeCgroup, killCgroup, thawCgroup } from './cgroup.js';
import { readProcFile } from './proc-file.js';
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

/** Rounds of looking for new members while the known ones are stopped; a fork bomb is not worth more. */
const ROUNDS = 10;

/** Living processes of the tree. Of one reading, the first tree costs 1 ms for a hundred processes, others next to nothing. */
export function treeMembers(processes: readonly ProcessEntry[], tree: Tree): ProcessEntry[] {
  const index = indexOf(processes);
  const members = new Set(rootsOf(index, tree));
  // A set that grows while it is walked is walked to its end.
  for (const { pid } of members) for (const entry of index.kin.get(pid) ?? []) members.add(entry);
  return [...members].filter(({ pid }) => pid !== process.pid && pid !== 1);
}

/** Processes of one reading by what trees are found by. */
type Index = {
  byPid: ReadonlyMap<number, ProcessEntry>;
  /** Children of a process, and those whose group or session it leads. */
  kin: ReadonlyMap<number, readonly ProcessEntry[]>;
  /** By the directory of the run whose mark they carry; null: they carry none. */
  marked: ReadonlyMap<string | null, readonly ProcessEntry[]>;
  /** Those without a mark, by the files that their stdout and stderr go to. */
  writing: ReadonlyMap<string, readonly ProcessEntry[]>;
  loose: LooseProcesses;
};

const indices = new WeakMap<readonly ProcessEntry[], Index>();

/** A hundred trees are looked for in the same processes at once. */
function indexOf(processes: readonly ProcessEntry[]): Index {
  const known = indices.get(processes);
  if (known !== undefined) return known;
  const marked = groupBy(processes, (entry) => entry.mark());
  const unmarked = marked.get(null) ?? [];
  const index = {
    byPid: new Map(processes.map((entry) => [entry.pid, entry])),
    kin: groupByEach(processes, ({ parent, group, session }) => [parent, group, session]),
    marked,
    writing: groupByEach(unmarked, (entry) => entry.outputs()),
    loose: new LooseProcesses(unmarked.filter(({ terminal }) => !terminal)),
  };
  indices.set(processes, index);
  return index;
}

/**
 * Processes that may have got away from a tree: they have neither a mark nor a terminal. Which files one of them holds open is
 * asked once, and only of those that are younger than a tree that was looked for.
 */
class LooseProcesses {
  /** The youngest last. */
  readonly #unasked: ProcessEntry[];
  readonly #holding = new Map<string, ProcessEntry[]>();
  readonly #wiped: ProcessEntry[] = [];

  constructor(processes: readonly ProcessEntry[]) {
    this.#unasked = processes.toSorted((a, b) => Number(a.startTime) - Number(b.startTime));
  }

  strayFrom(tree: Tree): ProcessEntry[] {
    if (tree.startTime === null) return [];
    this.#askSince(Number(tree.startTime));
    const holders = this.#holding.get(join(tree.directory, runFiles.log)) ?? [];
    return [...holders, ...this.#wiped].filter((entry) => isStray(entry, tree));
  }

  #askSince(startTime: number): void {
    // Where it is a date, as without /proc, nobody's files are known anyway.
    while (Number(this.#unasked.at(-1)?.startTime) >= startTime) {
      const entry = this.#unasked.pop()!;
      for (const path of entry.open()) addTo(this.#holding, path, entry);
      if (entry.isWiped()) this.#wiped.push(entry);
    }
  }
}

/** Those that show by themselves that they are of the tree. */
function rootsOf(index: Index, tree: Tree): ProcessEntry[] {
  const { pid, directory, cgroup, seen } = tree;
  const inCgroup = cgroup ? cgroupPids(cgroup) : [];
  const wereSeen = [...(seen ?? [])].map((key) => Number.parseInt(key, 10));
  const known = [...inCgroup, ...wereSeen].flatMap((member) => index.byPid.get(member) ?? []);
  const log = join(directory, runFiles.log);
  const near = isLeader(index.byPid, tree) ? (index.kin.get(pid) ?? []) : [];
  return [
    ...near.filter(({ group, session }) => group === pid || session === pid),
    ...known.filter((entry) => inCgroup.includes(entry.pid) || seen!.has(keyOf(entry))),
    ...(index.marked.get(directory) ?? []),
    ...(index.writing.get(log) ?? []),
    ...index.loose.strayFrom(tree),
  ];
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
    const leads = isLeader(indexOf(processes).byPid, tree) && members.some(({ group }) => group === tree.pid);
    // The group gets it as one, before any member can react to the end of another.
    const targets = members.filter(({ group }) => !leads || group !== tree.pid).map(({ pid }) => pid);
    if (leads) targets.unshift(-tree.pid);
    for (const target of targets) send(target, 'SIGTERM');
    for (const target of targets) send(target, 'SIGCONT');
    if (tree.cgroup) thawCgroup(tree.cgroup);
  }
}

/** Suspends the trees (SIGSTOP), with all they hold: memory, files, GPU memory. */
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
function isLeader(byPid: ReadonlyMap<number, ProcessEntry>, { pid, startTime }: Tree): boolean {
  if (startTime === null) return false;
  const holder = byPid.get(pid);
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
  const log = join(directory, runFiles.log);
  if (entry.writesTo((path) => path === log)) return true;
  const isBelow = (path: string) => path === directory || path.startsWith(`${directory}/`);
  return entry.isWiped() && (isBelow(entry.cwd() ?? '') || entry.writesTo(isBelow));
}

/** Programs of ours that go on without a parent: other supervisors, and daemons that they start for GPUs. */
const own = { argument: /supervisor\.js$/, name: /^nvidia-cuda-mps/ };

/**
 * Processes that may be of the tree, although nothing on them shows whose they are: orphans of this user without a mark and
 * without a terminal, that began while the tree lived, and that no service manager keeps in a cgroup of their own.
 *
 * Somebody else may have started them at that time. Empty where the tree has a cgroup, which nothing leaves by itself.
 */
export function possibleStrays(processes: readonly ProcessEntry[], tree: Tree): ProcessEntry[] {
  if (tree.cgroup || tree.startTime === null) return [];
  const { byPid } = indexOf(processes);
  const members = new Set(treeMembers(processes, tree));
  const isAdopted = ({ parent }: ProcessEntry) => parent === 1 || byPid.get(parent)?.name === 'systemd';
  const isYounger = ({ startTime }: ProcessEntry) => Number(startTime) >= Number(tree.startTime);
  const orphans = processes.filter((entry) => !entry.terminal && isAdopted(entry) && isYounger(entry));
  const unknown = orphans.filter((entry) => !members.has(entry) && entry.mark() === null && entry.pid !== process.pid);
  return unknown.filter((entry) => isNeighbour(entry) && !own.name.test(entry.name) && !isSupervisor(entry));
}

function isSupervisor(entry: ProcessEntry): boolean {
  return own.argument.test(entry.argv()[1] ?? '');
}

/** Of the same user (root may have become anyone) and in the same cgroup as this process. */
function isNeighbour({ pid }: ProcessEntry): boolean {
  const uid = process.getuid?.();
  const isOfUser = uid === 0 || statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid;
  const groupsOf = (who: number | string) => readProcFile(`/proc/${who}/cgroup`)?.toString();
  return isOfUser && groupsOf(pid) === groupsOf('self');
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
