import * as z from 'zod';

/** `.supervisor/lock.json`: the supervisor that owns the runs directory, and where it listens. */
export const SupervisorLock = z.object({
  pid: z.int().positive(),
  /** With the boot id: the one process that ever had this pid at that time. */
  startTime: z.string(),
  bootId: z.string(),
  socket: z.string(),
  version: z.literal(1),
});
export type SupervisorLock = z.infer<typeof SupervisorLock>;
