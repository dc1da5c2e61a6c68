import * as z from 'zod';

/**
 * `.supervisor/lock.json`: the supervisor that owns the runs directory, and where it listens.
 *
 * Its pid and start time mean something on `host` only, since it was last started (`bootId`), and in one PID namespace. Where
 * these are not said, an older version wrote it, which knew of one machine only.
 */
export const SupervisorLock = z.object({
  pid: z.int().positive(),
  /** With the boot id: the one process that ever had this pid at that time. */
  startTime: z.string(),
  bootId: z.string(),
  host: z.string().optional(),
  machineId: z.string().optional(),
  pidNamespace: z.string().optional(),
  socket: z.string(),
  version: z.literal(1),
});
export type SupervisorLock = z.infer<typeof SupervisorLock>;

/** What `supervisor.js` leaves with when the runs directory is supervised from where its processes cannot be seen. */
export const ELSEWHERE = 4;

/** A supervisor sends so many heartbeats before its lease has expired. */
const BEATS = 12;
/** Without a heartbeat for so long, its lease has expired, ms. */
const LEASE_MS = 60_000;

/** `leaseMs`: how long a lease lasts without a heartbeat; `beatMs`: between two of them. */
export type LeaseTerms = { leaseMs: number; beatMs: number };

/** @param wanted `MEMRL_LEASE_MS`: must be the same for all who share a runs directory. */
export function leaseTerms(wanted: string | undefined): LeaseTerms {
  const given = Number(wanted);
  const leaseMs = given > 0 ? given : LEASE_MS;
  return { leaseMs, beatMs: leaseMs / BEATS };
}
