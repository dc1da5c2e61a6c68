import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { type AttemptRecord, RunRecord } from '../../contract/run-record.js';
import { ensureOwnDirectory } from './own-directory.js';
import { readRegular, textOrNull } from '../regular-file.js';
import { foldersIn } from '../sweep-folder.js';
import { writeWhole } from '../whole-file.js';

/** Size limit of a record with thousands of attempts, in bytes. */
const LARGEST_RECORD = 4 << 20;
/** Size limit of other files beside it, in bytes. */
const LARGEST = 16 << 20;

/** The record of the run in `directory`; null: there is none, or it is incomplete or foreign. */
export function readRunRecord(directory: string): RunRecord | null {
  const text = textOrNull(join(directory, runFiles.record), LARGEST_RECORD);
  if (text === null) return null;
  try {
    const parsed = RunRecord.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    // Not JSON: incomplete, or written by another program.
    return null;
  }
}

type AttemptStart = Pick<AttemptRecord, 'number' | 'slot' | 'startedAt'>;

/** Whether the record of the run in `directory` has this start. Takes a quarter of the time of `readRunRecord`. */
export function isStartRecorded(directory: string, start: AttemptStart): boolean {
  const text = textOrNull(join(directory, runFiles.record), LARGEST_RECORD);
  try {
    return text !== null && hasStart(JSON.parse(text) as RunRecord, start);
  } catch {
    return false;
  }
}

export function hasStart({ attempts }: RunRecord, { number, slot, startedAt }: AttemptStart): boolean {
  const known = attempts.find((attempt) => attempt.number === number);
  return known?.startedAt === startedAt && known.slot === slot;
}

/**
 * The records of the runs below a sweep's directory, read lazily. A directory whose name differs from that in its record is a copy,
 * not a run.
 *
 * @param isWanted Whether a run of this name is wanted.
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

/** Why an existing record is not readable, in words; null: it is, or there is none. */
export function recordObstacle(directory: string): string | null {
  const read = readRegular(join(directory, runFiles.record), LARGEST_RECORD);
  return read.kind === 'unreadable' ? read.reason : null;
}

/**
 * Replaces `run.json` atomically: a reader sees the old record or the new one, never half of either. Creates the directory if it is
 * missing. Only one process may write at a time: the supervisor.
 */
export function writeRunRecord(directory: string, record: RunRecord): void {
  ensureOwnDirectory(directory);
  writeWhole(join(directory, runFiles.record), `${JSON.stringify(record, null, 2)}\n`);
}

/** The whole text of a small file; null: it is not readable. */
export function readIfThere(path: string): string | null {
  return textOrNull(path, LARGEST);
}

/** The number of packages in a file `code/packages-….json`; null: it is not readable or lists none. */
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
