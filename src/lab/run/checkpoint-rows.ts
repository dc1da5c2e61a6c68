import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';

/** Rows of a run's `checkpoints.jsonl`, oldest first; invalid lines are skipped. */
export function checkpointRows(run: string): CheckpointRow[] {
  const path = join(run, runFiles.checkpoints);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => CheckpointRow.safeParse(parseJsonLine(line)))
    .flatMap((row) => (row.success ? [row.data] : []));
}

/**
 * The directory of a row's checkpoint: one of our own is found in the run, by its name, even after the run was moved
 * or copied; one of another program at the path in the row. null when the row has no checkpoint.
 */
export function placeOf(run: string, { name, state_path: path }: CheckpointRow): string | null {
  if (path === undefined) return null;
  const own = join(runFiles.checkpointDirectory, name);
  return path === own || path.endsWith(`/${own}`) ? join(run, own) : resolve(run, path);
}

/** A line of `checkpoints.jsonl` (tinker-cookbook layout). `batch`: training steps done. */
const CheckpointRow = z.looseObject({
  name: z.string(),
  batch: z.int().nonnegative(),
  state_path: z.string().optional(),
});
export type CheckpointRow = z.infer<typeof CheckpointRow>;
