import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { statRegular } from '../../files/regular-file.js';
import { relationTo } from '../../processes/host-identity.js';
import { isAlive } from '../../processes/process-identity.js';
import { attemptDirectory, readClaim } from '../attempt/attempt-files.js';

/** A run that has written nothing for so long is taken for dead when Slurm does not know its job, ms. */
const QUIET_MS = 300_000;

/**
 * Whether an attempt without an exit code may be running though Slurm does not know its job, as after the loss of a controller.
 * Where its node is this machine its process tells; else whether its run has written anything lately.
 */
export function mayStillRun(directory: string, number: number): boolean {
  const claim = readClaim(attemptDirectory(directory, number));
  if (claim.kind !== 'begun') return false;
  const { place, identity } = claim;
  const relation = place === null ? 'foreign' : relationTo({ ...place, bootId: identity.bootId });
  if (relation === 'same') return isAlive(identity);
  return relation === 'foreign' && Date.now() - newestIn(directory) < QUIET_MS;
}

function newestIn(directory: string): number {
  try {
    const times = readdirSync(directory).map((name) => {
      const there = statRegular(join(directory, name));
      return there.kind === 'file' ? there.stat.mtimeMs : 0;
    });
    return Math.max(0, ...times);
  } catch {
    return 0;
  }
}
