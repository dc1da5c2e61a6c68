import * as z from 'zod';

/** One GPU as clients see it. Memory in MiB. `null`: the driver does not say, or has not been asked. */
export const GpuStatus = z.object({
  index: z.int(),
  name: z.string().nullable(),
  uuid: z.string().nullable(),
  /** Ids of the runs that were put there. */
  runs: z.array(z.string()),
  drained: z.boolean(),
  memoryTotal: z.number().nullable(),
  memoryUsed: z.number().nullable(),
  /** Percent. */
  utilization: z.number().nullable(),
  /** Degrees Celsius. */
  temperature: z.number().nullable(),
  /** Watts. */
  power: z.number().nullable(),
  /** Processes that are not of any run here. */
  foreign: z.array(z.object({ pid: z.int(), name: z.string(), memory: z.number().nullable() })),
  /** The runs directory of another supervisor that has taken it; null: none has. */
  leasedBy: z.string().nullable(),
  /** Whether its runs share it through the MPS daemon. */
  mps: z.boolean(),
});
export type GpuStatus = z.infer<typeof GpuStatus>;

/** What concerns all runs of a supervisor at once. */
export const FleetStatus = z.object({
  /** Nothing runs, and nothing that waits can start by itself. */
  settled: z.boolean(),
  /** What ended runs wrote last has been read; until then their metrics may be missing. A supervisor of an older build does not say. */
  recalled: z.boolean().default(true),
  /** How many ended runs that still concerns. */
  unread: z.int().optional(),
  cpu: z.object({ slots: z.int(), busy: z.int() }),
  /** GPUs that may be used, in the order in which they are preferred. */
  gpus: z.array(GpuStatus),
  /** What keeps the supervisor from its work (a full disk), in words; null when nothing does. */
  problem: z.string().nullable(),
});
export type FleetStatus = z.infer<typeof FleetStatus>;
