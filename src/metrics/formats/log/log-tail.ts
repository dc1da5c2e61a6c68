import { closeSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../../../contract/files.js';
import { openRegular } from '../../../files/regular-file.js';
import type { StatedProgress } from '../format.js';
import { LogRows } from './log-rows.js';

/** Bytes read at the end of the log. */
const TAIL = 16 << 10;
/** Time between two looks, ms. */
const PAUSE_MS = 1000;

/** The progress at the end of a run's log, for runs whose log is not read otherwise. */
export class LogTail {
  readonly #path: string;
  #lookedAt = -Infinity;
  #seen = '';
  #progress: StatedProgress | null = null;

  constructor(runDirectory: string) {
    this.#path = join(runDirectory, runFiles.log);
  }

  /** The progress; null: the log shows none. Checked at most once a second. */
  progress(): StatedProgress | null {
    if (performance.now() - this.#lookedAt >= PAUSE_MS) this.#look();
    return this.#progress;
  }

  /** Makes the next look happen at once, for a run that has ended. */
  lookAgain(): void {
    this.#lookedAt = -Infinity;
  }

  #look(): void {
    this.#lookedAt = performance.now();
    const opened = openRegular(this.#path);
    if (opened.kind !== 'file') return;
    const { descriptor, stat } = opened;
    try {
      const seen = `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
      if (seen === this.#seen) return;
      this.#seen = seen;
      const from = Math.max(0, stat.size - TAIL);
      const bytes = Buffer.allocUnsafe(stat.size - from);
      const text = bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, from));
      const rows = new LogRows();
      for (const line of text.split(/[\n\r]/)) rows.take(line);
      this.#progress = rows.progress;
    } catch {
      // A read of the disk or the network failed: the next look tries again.
    } finally {
      closeSync(descriptor);
    }
  }
}
