/**
 * An attempt whose shim died without a word. The run goes on as long as anything of it lives, though nobody will learn its
 * exit code. To look for it costs a reading of all processes, so those that were found are asked first.
 */
import { bootId, isAlive } from '../../processes/process-identity.js';
import { type ProcessEntry, readProcess } from '../../processes/process-table.js';
import { type Attempt, type Orphan, treeOf } from './attempt.js';

/** Whether it goes on with its shim, as far as is known. */
export function isLed({ elsewhere, ending, orphan }: Attempt): boolean {
  return elsewhere === null && ending === null && orphan === null;
}

/** Whether its processes have to be looked for. */
export function isDue({ elsewhere, ending, killedAt, orphan }: Attempt): boolean {
  if (elsewhere !== null) return false;
  return ending !== null || killedAt !== null || (orphan !== null && isBereft(orphan));
}

/** What a kill of the whole group ends may be seen for as long after its shim, ms. */
const TOGETHER_MS = 80;
/** As many are asked whether they stand still. */
const WITNESSES = 3;

/** Whether none of those that were seen lives, so that it is time to look for others. */
export function isBereft({ witnesses }: Orphan): boolean {
  return !witnesses.some(isAlive);
}

/** Notes who is left, of the members of its tree; what an earlier attempt left behind is not. */
export function lookAround(attempt: Attempt, members: readonly ProcessEntry[]): void {
  const { pid, startTime } = treeOf(attempt);
  const own = members.filter((entry) => startTime === null || Number(entry.startTime) >= Number(startTime));
  const oldestFirst = own.toSorted((a, b) => Number(a.startTime) - Number(b.startTime) || a.pid - b.pid);
  attempt.orphan!.witnesses = oldestFirst.map((entry) => ({
    pid: entry.pid,
    startTime: entry.startTime,
    bootId: bootId(),
  }));
  if (attempt.command !== null && isAlive(attempt.command)) return;
  const heir = oldestFirst.find(({ session }) => session === pid) ?? oldestFirst[0];
  attempt.command = attempt.orphan!.witnesses.find((witness) => witness.pid === heir?.pid) ?? null;
}

/** Whether somebody of it lives so long after its shim that the two did not die together. */
export function hasOutlived(orphan: Orphan, now: number): boolean {
  if (!orphan.outlived && now - orphan.since > TOGETHER_MS && !isBereft(orphan)) orphan.outlived = true;
  return orphan.outlived;
}

/** What a person should know of it. */
export function troubleOfOrphan({ orphan, paused }: Attempt): string {
  const words = 'its parent process was killed from outside; its exit code will not be known';
  const left = (orphan?.witnesses ?? []).slice(0, WITNESSES).flatMap((witness) => {
    const entry = readProcess(witness.pid);
    return entry?.startTime === witness.startTime ? [entry] : [];
  });
  const still = left.filter(({ state }) => paused || state === 'T').map(({ pid, name }) => `${name} (pid ${pid})`);
  if (still.length === 0) return words;
  return `${words}; still paused: ${still.join(', ')}; continue or kill it`;
}
