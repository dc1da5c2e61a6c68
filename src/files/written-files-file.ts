import { join } from 'node:path';
import { runFiles } from '../contract/files.js';
import { WrittenFiles } from '../contract/written-files.js';
import { textOrNull } from './regular-file.js';
import { writeWhole } from './whole-file.js';
import { makeFolder } from './make-folder.js';

/** Bytes; some thousand files. */
const LARGEST = 1 << 20;

/** What a run was found to have written elsewhere; null: nothing is known, or the file cannot be read. */
export function readWrittenFiles(directory: string): WrittenFiles | null {
  const text = textOrNull(join(directory, runFiles.written), LARGEST);
  if (text === null) return null;
  try {
    const parsed = WrittenFiles.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    // No JSON: another program's, or torn.
    return null;
  }
}

/** Replaces it in one step. One writer at a time: the supervisor. @throws What the system says. */
export function writeWrittenFiles(directory: string, written: WrittenFiles): void {
  makeFolder(directory);
  writeWhole(join(directory, runFiles.written), `${JSON.stringify(written, null, 2)}\n`);
}
