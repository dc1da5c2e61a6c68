import { z } from 'zod';

/** What concerns all runs of a supervisor at once. */
export const FleetStatus = z.object({
  /** Nothing runs, and nothing that waits can start by itself. */
  settled: z.boolean(),
  cpu: z.object({ slots: z.int(), busy: z.int() }),
  /** GPUs that may be used, and how many runs are on each. */
  gpus: z.array(z.object({ index: z.int(), runs: z.int() })),
  /** What keeps the supervisor from its work (a full disk), in words; null when nothing does. */
  problem: z.string().nullable(),
});
export type FleetStatus = z.infer<typeof FleetStatus>;
