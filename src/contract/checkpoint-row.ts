import * as z from 'zod';

/** A line of `checkpoints.jsonl` (tinker-cookbook layout). `batch`: training steps done. Paths are relative to the run. */
export const CheckpointRow = z.looseObject({
  name: z.string(),
  batch: z.int().nonnegative(),
  state_path: z.string().optional(),
});
export type CheckpointRow = z.infer<typeof CheckpointRow>;
