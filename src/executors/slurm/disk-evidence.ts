import type { Found } from '../executor.js';
import { attemptObstacle, endedAgo, withdraw, attemptDirectory } from '../attempt/attempt-files.js';
import { provenEnding } from '../attempt/ending.js';
import type { claimantOf } from './job-ending.js';

/** Whether no job can begin the attempt any more. */
export function takenAway(directory: string, number: number): boolean {
  try {
    return withdraw(attemptDirectory(directory, number)) !== null;
  } catch {
    return false;
  }
}

type Claimant = ReturnType<typeof claimantOf>;

/** What the disk alone says of an attempt; null: Slurm has to be asked. */
export function settledBy(folder: string, claimant: Claimant): Found | null {
  const reason = attemptObstacle(folder);
  if (reason !== null) return { kind: 'withdrawn', neverRan: false, reason };
  const proven = provenEnding(folder, null);
  // A signal may be Slurm's, which knows more of it.
  if (proven?.kind === 'exited') {
    const agoMs = endedAgo(folder);
    const pid = claimant.kind === 'ours' ? claimant.job : 0;
    return { kind: 'ended', pid, ending: proven, ...(agoMs === null ? {} : { agoMs }) };
  }
  if (claimant.kind !== 'other') return null;
  // Begun by what is no job of Slurm, or withdrawn.
  return proven === null ? { kind: 'withdrawn', neverRan: true } : { kind: 'ended', pid: 0, ending: proven };
}
