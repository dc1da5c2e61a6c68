import { readFileSync } from 'node:fs';
import { identityOf, type ProcessIdentity } from '../../processes/process-identity.js';
import type { ProcessEntry } from '../../processes/process-table.js';

/**
 * The run's own process, which people see and may signal: the child of its shim. Null while there is none.
 *
 * @param census All processes, asked only where the kernel does not tell the children of one (`CONFIG_PROC_CHILDREN`).
 */
export function commandProcess(shim: number, census: () => readonly ProcessEntry[]): ProcessIdentity | null {
  const child = childrenOf(shim)?.[0] ?? (canTellChildren ? undefined : foundAmong(census(), shim));
  return child === undefined ? null : identityOf(child);
}

/** Pids of the children of a process, oldest first, in 20 µs; null when it is gone or the kernel does not tell. */
export function childrenOf(pid: number): number[] | null {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number).filter(Boolean);
  } catch {
    return null;
  }
}

const canTellChildren = childrenOf(process.pid) !== null;

function foundAmong(processes: readonly ProcessEntry[], shim: number): number | undefined {
  return processes.find(({ parent }) => parent === shim)?.pid;
}
