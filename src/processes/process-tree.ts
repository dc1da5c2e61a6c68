/**
 * Finds and signals all processes that a run has started.
 *
 * A signal to the process group misses children with a group or session of their own, and a walk over parents misses orphans. So a
 * run's tree is the union of: its cgroup, the shim's group and session, every process with the run's mark in its environment, every
 * one without a mark whose output goes to the run's log, every stray (see `isStray`), every one that was once seen to descend from
 * the shim, and the descendants, groups and sessions of all these.
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
  /** Null: unknown, so the pid may have been reused. */ startTime: string | null;
  directory: string;
  /** The cgroup of its own; absent or null: it has none. */
  cgroup?: string | null;
  /** Processes that were seen to descend from the shim while it lived, by `keyOf`. */
  seen?: ReadonlySet<string>;
};

/**
 * Limit on the rounds in which new members are searched while the known ones are stopped, as a fork bomb may create them endlessly.
 */
const ROUNDS = 10;

/**
 * Living processes of the tree. With one reading, the first tree takes 1 ms for a hundred processes, further ones hardly any time.
 */
export function treeMembers(processes: readonly ProcessEntry[], tree: Tree): ProcessEntry[] {
  const index = indexOf(processes);
  const members = new Set(rootsOf(index, tree));
  // The iteration includes members that are added meanwhile.
  for (const { pid } of members) for (const entry of index.kin.get(pid) ?? []) members.add(entry);
  return [...members].filter(({ pid }) => pid !== process.pid && pid !== 1);
}

/** The processes of one reading, indexed by the properties that trees are found by. */
type Index = {
  byPid: ReadonlyMap<number, ProcessEntry>;
  /** Children of a process, and members of a group or session that it leads. */
  kin: ReadonlyMap<number, readonly ProcessEntry[]>;
  /** Processes by the directory in their mark; null: they have no mark. */
  marked: ReadonlyMap<string | null, readonly ProcessEntry[]>;
  /** Processes without a mark, by the files that their stdout and stderr are connected to. */
  writing: ReadonlyMap<string, readonly ProcessEntry[]>;
  loose: LooseProcesses;
};

const indices = new WeakMap<readonly ProcessEntry[], Index>();

/** The index of a reading, cached, as a hundred trees may be looked up in the same processes. */
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
 * Processes that may have escaped from a tree: they have neither a mark nor a terminal. Their open files are read once, and only of
 * those that started after a tree that is looked up.
 */
class LooseProcesses {
  /** Sorted by start time, the latest last. */
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
    // Without /proc the start time is a date, and no open files are known anyway.
    while (Number(this.#unasked.at(-1)?.startTime) >= startTime) {
      const entry = this.#unasked.pop()!;
      for (const path of entry.open()) addTo(this.#holding, path, entry);
      if (entry.isWiped()) this.#wiped.push(entry);
    }
  }
}

/** The processes whose own properties show that they belong to the tree. */
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
 * Kills all trees together: each is frozen first, until no new member appears, because a running parent may fork faster than its
 * children are found. Takes a few readings of the process table, however many trees there are.
 */
export function killTrees(trees: readonly Tree[]): void {
  for (const { cgroup } of trees) if (cgroup) killCgroup(cgroup);
  for (const { pid } of stop(trees)) send(pid, 'SIGKILL');
}

/** Sends SIGTERM to all processes in the trees. A stopped process only receives it when it continues, so it is continued. */
export function terminateTrees(trees: readonly Tree[]): void {
  const processes = readProcesses();
  for (const tree of trees) {
    const members = treeMembers(processes, tree);
    const leads = isLeader(indexOf(processes).byPid, tree) && members.some(({ group }) => group === tree.pid);
    // The group is signalled as a whole, before any member can react to the end of another.
    const targets = members.filter(({ group }) => !leads || group !== tree.pid).map(({ pid }) => pid);
    if (leads) targets.unshift(-tree.pid);
    for (const target of targets) send(target, 'SIGTERM');
    for (const target of targets) send(target, 'SIGCONT');
    if (tree.cgroup) thawCgroup(tree.cgroup);
  }
}

/** Suspends the trees (SIGSTOP). They keep their memory, files and GPU memory. */
export function pauseTrees(trees: readonly Tree[]): void {
  const unfrozen = trees.filter(({ cgroup }) => {
    if (!cgroup || !freezeCgroup(cgroup)) return true;
    // A shim that has not entered its cgroup yet is stopped by a signal.
    return cgroupPids(cgroup).length === 0;
  });
  stop(unfrozen);
}

/** Continues what `pauseTrees` suspended, also in an earlier supervisor. */
export function continueTrees(trees: readonly Tree[]): void {
  for (const { cgroup } of trees) if (cgroup) thawCgroup(cgroup);
  const processes = readProcesses();
  for (const tree of trees) for (const { pid } of treeMembers(processes, tree)) send(pid, 'SIGCONT');
}

/** Stops all members, and those that appear meanwhile. */
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

/** Whether group and session are the tree's, which holds while the shim's pid has not been reused. */
function isLeader(byPid: ReadonlyMap<number, ProcessEntry>, { pid, startTime }: Tree): boolean {
  if (startTime === null) return false;
  const holder = byPid.get(pid);
  return holder === undefined || holder.startTime === startTime;
}

/**
 * Whether a process is a daemon that has left the run's session, and whose origin shows in another way: it writes to the run's log,
 * or has emptied its environment and works, or writes, in the run's directory.
 *
 * The directory alone would be too weak: a user's shell, editor or tmux may have been started there. But what a user starts has a
 * terminal or at least a HOME, and earlier processes were not started by the run.
 */
export function isStray(entry: ProcessEntry, { directory, startTime }: Tree): boolean {
  if (entry.terminal || startTime === null || Number(entry.startTime) < Number(startTime)) return false;
  // A mark shows that it belongs to another run.
  if (entry.mark() !== null) return false;
  const log = join(directory, runFiles.log);
  if (entry.writesTo((path) => path === log)) return true;
  const isBelow = (path: string) => path === directory || path.startsWith(`${directory}/`);
  return entry.isWiped() && (isBelow(entry.cwd() ?? '') || entry.writesTo(isBelow));
}

/** Our own programs without a parent: other supervisors, and daemons that they start for GPUs. */
const own = { argument: /supervisor\.js$/, name: /^nvidia-cuda-mps/ };

/**
 * Processes that may belong to the tree although nothing proves it: orphans of this user without a mark and a terminal that started
 * while the tree lived, and that no service manager keeps in a cgroup of their own.
 *
 * Somebody else may have started them at that time. Empty if the tree has a cgroup, which no process leaves by itself.
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

/** Whether a process has the same user (root may have changed to any) and the same cgroup as this one. */
function isNeighbour({ pid }: ProcessEntry): boolean {
  const uid = process.getuid?.();
  const isOfUser = uid === 0 || statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid;
  const groupsOf = (who: number | string) => readProcFile(`/proc/${who}/cgroup`)?.toString();
  return isOfUser && groupsOf(pid) === groupsOf('self');
}

/** A unique key of a process since the machine was booted. */
export function keyOf({ pid, startTime }: Pick<ProcessEntry, 'pid' | 'startTime'>): string {
  return `${pid} ${startTime}`;
}

/** Signals a process or (negative) a group. It is no error if that has ended. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, or belongs to another user.
  }
}
