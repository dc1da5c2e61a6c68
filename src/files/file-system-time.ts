import { randomUUID } from 'node:crypto';
import { closeSync, openSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The current time by the file system of a folder, from a file that is created there: Unix ms. The age of a file must be computed
 * with it, as the clocks of this machine and of a file server may differ. Throws when the folder is not writable.
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
