import { closeSync, constants, copyFileSync, readdirSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { makeFolder } from '../make-folder.js';
import { openRegular, statRegular } from '../regular-file.js';

/**
 * Copies of the tables of numbers that an attempt had written when the next one began: programs open them anew, and their earlier rows
 * would be gone. They lie in `attempts/N/metrics/`, N being the number of the attempt that wrote them last.
 */

const FOLDER = 'metrics';
const isTable = /\.(csv|tsv|jsonl|ndjson)$/i;
/** Limits of one attempt: the total size of copies, bytes; the files, and the depth of folders that are looked into. */
const MOST_BYTES = 8 << 20;
const MOST_FILES = 32;
const DEEPEST = 3;
/** Bytes compared at the end of a copy to see whether the file has only grown. */
const SAMPLE = 4096;

/** Keeps what the attempts before this one have written, as far as the limits allow. Must not throw. */
export function keepTables(runDirectory: string, attempt: number): void {
  const kept = join(runDirectory, runFiles.attempts, String(attempt - 1), FOLDER);
  let [files, bytes] = [0, 0];
  for (const place of tablesIn(runDirectory, '', 0)) {
    const there = statRegular(join(runDirectory, place));
    if (there.kind !== 'file' || there.stat.size === 0 || bytes + there.stat.size > MOST_BYTES) continue;
    if (++files > MOST_FILES) return;
    bytes += there.stat.size;
    try {
      makeFolder(dirname(join(kept, place)));
      // Without copying a byte where the file system can.
      copyFileSync(join(runDirectory, place), join(kept, place), constants.COPYFILE_FICLONE);
    } catch {
      // A full disk keeps no copies; the run goes on without them.
      return;
    }
  }
}

/** The copies of a run's file that it does not begin with itself, of the first attempt first. */
export function keptTables(runDirectory: string, place: string): string[] {
  if (!isTable.test(place)) return [];
  const attempts = namesIn(join(runDirectory, runFiles.attempts)).filter((name) => /^\d+$/.test(name));
  const copies = attempts
    .sort((one, other) => Number(one) - Number(other))
    .map((name) => join(runDirectory, runFiles.attempts, name, FOLDER, place));
  return copies.filter((copy) => statRegular(copy).kind === 'file' && !begins(join(runDirectory, place), copy));
}

function* tablesIn(root: string, place: string, depth: number): Generator<string> {
  if (depth > DEEPEST) return;
  try {
    for (const entry of readdirSync(join(root, place), { withFileTypes: true })) {
      if (entry.name === runFiles.attempts || entry.name === runFiles.usage || entry.name.startsWith('.')) continue;
      if (entry.isFile() && isTable.test(entry.name)) yield join(place, entry.name);
      else if (entry.isDirectory()) yield* tablesIn(root, join(place, entry.name), depth + 1);
    }
  } catch {
    // A folder that went away has no tables.
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Whether a file begins with what its copy ends with: it was only appended to since. */
function begins(path: string, copy: string): boolean {
  const there = statRegular(copy);
  if (there.kind !== 'file') return false;
  const from = Math.max(0, there.stat.size - SAMPLE);
  const [one, other] = [path, copy].map((each) => bytesAt(each, from, there.stat.size - from));
  return one !== null && other !== null && one!.equals(other!);
}

function bytesAt(path: string, from: number, length: number): Buffer | null {
  const opened = openRegular(path);
  if (opened.kind !== 'file') return null;
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(opened.descriptor, bytes, 0, length, from));
  } catch {
    return null;
  } finally {
    closeSync(opened.descriptor);
  }
}
