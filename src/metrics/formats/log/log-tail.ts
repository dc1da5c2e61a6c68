import { closeSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../../../contract/files.js';
import { openRegular } from '../../../files/regular-file.js';
import type { StatedProgress } from '../format.js';
import { LogRows } from './log-rows.js';

/** Read of the end, bytes. */
const TAIL = 16 << 10;
/** Between two looks, ms. */
const PAUSE_MS = 1000;

/** How far a run says that it is at the end of what it prints, where nothing else of that is read. */
export class LogTail {
  readonly #path: string;
  #lookedAt = 0;
  #seen = '';
  #progress: StatedProgress | null = null;

  constructor(runDirectory: string) {
    this.#path = join(runDirectory, runFiles.log);
  }

  /** Null: it does not say. Looks at most once a second. */
  progress(): StatedProgress | null {
    if (Date.now() - this.#lookedAt >= PAUSE_MS) this.#look();
    return this.#progress;
  }

  #look(): void {
    this.#lookedAt = Date.now();
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
      // The disk or the network failed a read: the next look tries again.
    } finally {
      closeSync(descriptor);
    }
  }
}
