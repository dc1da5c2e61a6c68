import * as z from 'zod';

/**
 * `.supervisor/lock.json`: the supervisor that owns the runs directory, and where it listens.
 *
 * Its pid and start time are valid only on `host`, since that booted (`bootId`), in one PID namespace. Where these fields are
 * absent, an older version wrote the lock, which knew of one machine only.
 */
export const SupervisorLock = z.object({
  pid: z.int().positive(),
  /** With the boot id it identifies one process, even if the pid is reused. */
  startTime: z.string(),
  bootId: z.string(),
  host: z.string().optional(),
  machineId: z.string().optional(),
  pidNamespace: z.string().optional(),
  socket: z.string(),
  version: z.literal(1),
});
export type SupervisorLock = z.infer<typeof SupervisorLock>;

/** The exit code of `supervisor.js` when a process that cannot be seen from here supervises the runs directory. */
export const ELSEWHERE = 4;

/** How many heartbeats a supervisor sends per lease. */
const BEATS = 12;
/** How long a lease lasts without a heartbeat, ms. */
const LEASE_MS = 60_000;

/** `leaseMs`: how long a lease lasts without a heartbeat; `beatMs`: between two of them. */
export type LeaseTerms = { leaseMs: number; beatMs: number };

/** @param wanted `MEMRL_LEASE_MS`: must be the same for all who share a runs directory. */
export function leaseTerms(wanted: string | undefined): LeaseTerms {
  const given = Number(wanted);
  const leaseMs = given > 0 ? given : LEASE_MS;
  return { leaseMs, beatMs: leaseMs / BEATS };
}
