import { randomUUID } from 'node:crypto';
import { closeSync, openSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Two changes within this time may leave the same time at a file or folder, ms. */
const RACY_MS = 50;

/**
 * Whether every later change of a file or folder will show in its time of modification. A time in the future counts as settled: it
 * is that of a file server whose clock is ahead, or this machine's was set back, and it would stay in the future for hours.
 */
export function isSettledTime(mtimeMs: number): boolean {
  return Math.abs(Date.now() - mtimeMs) > RACY_MS;
}

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
