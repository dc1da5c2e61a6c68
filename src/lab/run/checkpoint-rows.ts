import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';

/** Rows of a run's `checkpoints.jsonl`, oldest first; lines that are none are passed over. */
export function checkpointRows(run: string): CheckpointRow[] {
  const path = join(run, runFiles.checkpoints);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => CheckpointRow.safeParse(parseJsonLine(line)))
    .flatMap((row) => (row.success ? [row.data] : []));
}

/** A line of `checkpoints.jsonl` (tinker-cookbook layout). `batch`: training steps done. Paths are relative to the run. */
const CheckpointRow = z.looseObject({
  name: z.string(),
  batch: z.int().nonnegative(),
  state_path: z.string().optional(),
});
type CheckpointRow = z.infer<typeof CheckpointRow>;
