import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { WrittenFiles } from '../../contract/written-files.js';
import { ensureOwnDirectory } from './own-directory.js';
import { textOrNull } from '../regular-file.js';
import { writeWhole } from '../whole-file.js';

/** Size limit in bytes, for some thousand files. */
const LARGEST = 1 << 20;

/** The files outside its directory that a run was found to write; null: unknown, or the file is not readable. */
export function readWrittenFiles(directory: string): WrittenFiles | null {
  const text = textOrNull(join(directory, runFiles.written), LARGEST);
  if (text === null) return null;
  try {
    const parsed = WrittenFiles.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    // Not JSON: written by another program, or incomplete.
    return null;
  }
}

/**
 * Replaces the file atomically. Only one process may write at a time: the supervisor. @throws The error of the operating system.
 */
export function writeWrittenFiles(directory: string, written: WrittenFiles): void {
  ensureOwnDirectory(directory);
  writeWhole(join(directory, runFiles.written), `${JSON.stringify(written, null, 2)}\n`);
}
