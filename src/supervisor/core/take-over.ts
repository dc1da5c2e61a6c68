import type { LeaseTerms } from '../../contract/supervisor-lock.js';
import type { Lease } from './lease.js';

/** Beats without a sign of life that are waited for, however old the last one: a clock may have been set meanwhile. */
const WATCHED_BEATS = 2;

/**
 * Watches the lease of a supervisor that is out of sight: true when it has expired and no sign of life has come while it
 * was watched, false as soon as one comes.
 */
export async function fallsSilent(lease: Lease, { leaseMs, beatMs }: LeaseTerms): Promise<boolean> {
  const beganAt = performance.now();
  const first = lease.mark();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, beatMs / 4));
    if (lease.mark() !== first) return false;
    const isWatched = performance.now() - beganAt >= WATCHED_BEATS * beatMs;
    if (isWatched && lease.silentFor() >= leaseMs) return true;
  }
}
