import { randomUUID } from 'node:crypto';
import { closeSync, openSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What time it is for the file system of a folder, by a file written this moment: Unix ms. The age of a file is told by it
 * alone, as the clock of this program and that of a file server may differ. Throws when the folder cannot be written to.
 */
export function fileSystemTime(folder: string): number {
  const draft = join(folder, `time.${randomUUID()}.tmp`);
  closeSync(openSync(draft, 'wx', 0o600));
  try {
    return statSync(draft).mtimeMs;
  } finally {
    unlinkSync(draft);
  }
}
