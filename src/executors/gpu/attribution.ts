import { join } from 'node:path';
import type { RunId } from '../../base/ids.js';
import { runFiles } from '../../contract/files.js';
import { type ProcessEntry, readProcess } from '../local/process-table.js';
import type { Tree } from '../local/tree.js';

/** Looks a process up by its pid; null when it does not live here (any more). */
export type LookUp = (pid: number) => ProcessEntry | null;

/** Nobody nests deeper, and a pid that was reused meanwhile could make a circle. */
const GENERATIONS = 100;

/**
 * Tells which run a process belongs to: the same as `treeMembers`, but from the process upwards. Few processes are on GPUs,
 * and to read the whole table every few seconds would cost more than all else.
 */
export function ownership(
  trees: ReadonlyMap<RunId, Tree>,
  lookUp: LookUp = readProcess,
): (pid: number) => RunId | null {
  const byPid = new Map([...trees].map(([id, tree]) => [tree.pid, { id, tree }]));
  const byDirectory = new Map([...trees].map(([id, { directory }]) => [directory, id]));
  const byLog = new Map([...trees].map(([id, { directory }]) => [join(directory, runFiles.log), id]));

  /** A shim's pid counts as long as it has not gone to someone else. */
  const ledBy = (pid: number): RunId | null => {
    const led = byPid.get(pid);
    if (led === undefined || led.tree.startTime === null) return null;
    const holder = lookUp(pid);
    return holder === null || holder.startTime === led.tree.startTime ? led.id : null;
  };
  const ownerOf = (entry: ProcessEntry): RunId | null => {
    const lead = ledBy(entry.pid) ?? ledBy(entry.group) ?? ledBy(entry.session);
    const log = () => entry.outputs().find((file) => byLog.has(file));
    return lead ?? byDirectory.get(entry.mark() ?? '') ?? byLog.get(log() ?? '') ?? null;
  };
  return (pid) => {
    let entry = lookUp(pid);
    for (let generation = 0; entry !== null && entry.pid > 1 && generation < GENERATIONS; generation++) {
      const owner = ownerOf(entry);
      if (owner !== null) return owner;
      entry = lookUp(entry.parent);
    }
    return null;
  };
}
