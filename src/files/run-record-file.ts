import { join } from 'node:path';
import { runFiles } from '../contract/files.js';
import { RunRecord } from '../contract/run-record.js';
import { readRegular, textOrNull } from './regular-file.js';
import { foldersIn } from './sweep-folders.js';
import { writeWhole } from './whole-file.js';
import { makeFolder } from './make-folder.js';

/** Of a record with thousands of attempts, bytes. */
const LARGEST_RECORD = 4 << 20;
/** Of other files that a person or a program may have written beside it, bytes. */
const LARGEST = 16 << 20;

/** The record of the run in `directory`; null when there is none, or it is torn or not ours. */
export function readRunRecord(directory: string): RunRecord | null {
  const text = textOrNull(join(directory, runFiles.record), LARGEST_RECORD);
  if (text === null) return null;
  try {
    const parsed = RunRecord.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    // No JSON: torn, or written by another program.
    return null;
  }
}

/**
 * The records of the runs below a sweep's directory, each read when it is asked for. A directory under another name than that of
 * its record is a copy that somebody made, and no run.
 *
 * @param isWanted By the name of the run.
 */
export function* eachRunRecord(
  sweepDirectory: string,
  isWanted: (name: string) => boolean = () => true,
): Generator<RunRecord> {
  for (const name of foldersIn(sweepDirectory)) {
    if (!isWanted(name)) continue;
    const record = readRunRecord(join(sweepDirectory, name));
    if (record?.name === name) yield record;
  }
}

/** Why there is a record that cannot be read, in words; null: it can, or there is none. */
export function recordObstacle(directory: string): string | null {
  const read = readRegular(join(directory, runFiles.record), LARGEST_RECORD);
  return read.kind === 'unreadable' ? read.reason : null;
}

/**
 * Replaces `run.json` in one step: a reader sees the old record or the new one, never half of either.
 * Makes the directory if it is missing. One writer at a time: the supervisor.
 */
export function writeRunRecord(directory: string, record: RunRecord): void {
  makeFolder(directory);
  writeWhole(join(directory, runFiles.record), `${JSON.stringify(record, null, 2)}\n`);
}

/** Whole text of a small file; null when it cannot be read. */
export function readIfThere(path: string): string | null {
  return textOrNull(path, LARGEST);
}

/** How many packages a file of `code/packages-….json` lists; null when it cannot be read or lists none. */
export function packageCount(path: string): number | null {
  const text = readIfThere(path);
  if (text === null) return null;
  try {
    const { python, node } = JSON.parse(text) as Record<string, { packages?: Record<string, string> } | undefined>;
    const listed = [python, node].filter((side) => typeof side?.packages === 'object' && side.packages !== null);
    return listed.length === 0 ? null : listed.reduce((sum, side) => sum + Object.keys(side!.packages!).length, 0);
  } catch {
    return null;
  }
}
