import { join } from 'node:path';
import type { RunId } from '../base/ids.js';
import { runFiles } from '../contract/files.js';
import { cgroupPids } from '../processes/cgroup.js';
import { type ProcessEntry, readProcess } from '../processes/process-table.js';
import { isStray, type Tree } from '../processes/process-tree.js';

/** Nobody nests deeper, and a pid that was reused meanwhile could make a circle. */
const GENERATIONS = 100;

/**
 * Tells which run a process belongs to: the same as `treeMembers`, but from the process upwards. Few processes are on GPUs,
 * and to read the whole table every few seconds would cost more than all else.
 */
export function ownership(trees: ReadonlyMap<RunId, Tree>): (pid: number) => RunId | null {
  const lookUp = rememberingLookUp();
  const all = [...trees].map(([id, tree]) => ({ id, tree }));
  const byPid = new Map(all.map((run) => [run.tree.pid, run]));
  const byDirectory = new Map(all.map(({ id, tree }) => [tree.directory, id]));
  const byLog = new Map(all.map(({ id, tree }) => [join(tree.directory, runFiles.log), id]));
  const byCgroup = once(() => pidsInCgroups(all));

  /** A shim's pid counts as long as it has not gone to someone else. */
  const ledBy = (pid: number): RunId | null => {
    const led = byPid.get(pid);
    if (led === undefined || led.tree.startTime === null) return null;
    const holder = lookUp(pid);
    return holder === null || holder.startTime === led.tree.startTime ? led.id : null;
  };
  const byWhatItCarries = (entry: ProcessEntry): RunId | null => {
    const log = entry.outputs().find((file) => byLog.has(file));
    return byDirectory.get(entry.mark() ?? '') ?? byLog.get(log ?? '') ?? null;
  };
  const ownerOf = (entry: ProcessEntry): RunId | null => {
    const led = ledBy(entry.pid) ?? ledBy(entry.group) ?? ledBy(entry.session);
    return led ?? byWhatItCarries(entry) ?? byCgroup().get(entry.pid) ?? null;
  };
  const firstOwner = (entry: ProcessEntry): RunId | null => {
    let ancestor: ProcessEntry | null = entry;
    for (let generation = 0; ancestor !== null && ancestor.pid > 1 && generation < GENERATIONS; generation++) {
      const owner = ownerOf(ancestor);
      if (owner !== null) return owner;
      ancestor = lookUp(ancestor.parent);
    }
    return null;
  };
  return (pid) => {
    const entry = lookUp(pid);
    if (entry === null) return null;
    return firstOwner(entry) ?? all.find(({ tree }) => isStray(entry, tree))?.id ?? null;
  };
}

/** Strangers often have the same ancestors. */
function rememberingLookUp(): (pid: number) => ProcessEntry | null {
  const seen = new Map<number, ProcessEntry | null>();
  return (pid) => {
    const known = seen.get(pid);
    if (known !== undefined) return known;
    const entry = readProcess(pid);
    seen.set(pid, entry);
    return entry;
  };
}

function pidsInCgroups(runs: readonly { id: RunId; tree: Tree }[]): Map<number, RunId> {
  return new Map(
    runs.flatMap(({ id, tree }) =>
      (tree.cgroup ? cgroupPids(tree.cgroup) : []).map((pid): [number, RunId] => [pid, id]),
    ),
  );
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}
