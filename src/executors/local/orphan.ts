/**
 * An attempt whose shim died without reporting an end. The run continues while any of its processes lives, though its exit code
 * will remain unknown. Searching for them reads all processes, so known ones are checked first.
 */
import { bootId, isAlive } from '../../processes/process-identity.js';
import { type ProcessEntry, readProcess } from '../../processes/process-table.js';
import { type Attempt, type Orphan, treeOf } from './attempt.js';

/** Whether it continues with its shim, as far as known. */
export function isLed({ elsewhere, ending, orphan }: Attempt): boolean {
  return elsewhere === null && ending === null && orphan === null;
}

/** Whether its processes have to be searched for. */
export function isDue({ elsewhere, ending, killedAt, orphan }: Attempt): boolean {
  if (elsewhere !== null) return false;
  return ending !== null || killedAt !== null || (orphan !== null && isGone(orphan));
}

/** Processes that a kill of the whole group ends may be visible for this long after the shim, ms. */
const TOGETHER_MS = 80;
/** Number of processes that are checked for life. */
const CHECKED_SURVIVORS = 3;

/** Whether none of the known processes lives, so that others have to be searched for. */
export function isGone({ survivors }: Orphan): boolean {
  return !survivors.some(isAlive);
}

/** Records the living members of its tree, without leftovers of earlier attempts. */
export function lookAround(attempt: Attempt, members: readonly ProcessEntry[]): void {
  const { pid, startTime } = treeOf(attempt);
  const own = members.filter((entry) => startTime === null || Number(entry.startTime) >= Number(startTime));
  const oldestFirst = own.toSorted((a, b) => Number(a.startTime) - Number(b.startTime) || a.pid - b.pid);
  attempt.orphan!.survivors = oldestFirst.map((entry) => ({
    pid: entry.pid,
    startTime: entry.startTime,
    bootId: bootId(),
  }));
  if (attempt.command !== null && isAlive(attempt.command)) return;
  const heir = oldestFirst.find(({ session }) => session === pid) ?? oldestFirst[0];
  attempt.command = attempt.orphan!.survivors.find((survivor) => survivor.pid === heir?.pid) ?? null;
}

/** Whether a process has lived for so long after the shim that they did not die together. */
export function hasOutlived(orphan: Orphan, now: number): boolean {
  if (!orphan.outlived && now - orphan.since > TOGETHER_MS && !isGone(orphan)) orphan.outlived = true;
  return orphan.outlived;
}

/** The warning about it. */
export function troubleOfOrphan({ orphan, paused }: Attempt): string {
  const words = 'its parent process was killed from outside; its exit code will not be known';
  const left = (orphan?.survivors ?? []).slice(0, CHECKED_SURVIVORS).flatMap((survivor) => {
    const entry = readProcess(survivor.pid);
    return entry?.startTime === survivor.startTime ? [entry] : [];
  });
  const still = left.filter(({ state }) => paused || state === 'T').map(({ pid, name }) => `${name} (pid ${pid})`);
  if (still.length === 0) return words;
  return `${words}; still paused: ${still.join(', ')}; continue or kill it`;
}
