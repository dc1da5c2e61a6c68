import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CheckpointRow } from '../../contract/checkpoint-row.js';
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
