import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../contract/files.js';
import { RunRecord } from '../contract/run-record.js';

/** The record of the run in `directory`; null when there is none, or it is torn or not ours. */
export function readRunRecord(directory: string): RunRecord | null {
  const text = readIfThere(join(directory, runFiles.record));
  if (text === null) return null;
  try {
    const parsed = RunRecord.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/**
 * Replaces `run.json` in one step: a reader sees the old record or the new one, never half of either.
 * Makes the directory if it is missing. One writer at a time: the supervisor.
 */
export function writeRunRecord(directory: string, record: RunRecord): void {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, runFiles.record);
  writeFileSync(`${path}.tmp`, `${JSON.stringify(record, null, 2)}\n`);
  renameSync(`${path}.tmp`, path);
}

/** Whole text of a small file; null when it cannot be read. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
