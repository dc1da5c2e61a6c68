import * as z from 'zod';
import type { RunId } from '../../base/ids.js';
import { readRegular } from '../../files/regular-file.js';
import { writeWhole } from '../../files/whole-file.js';

const JudgedFile = z.record(z.string(), z.object({ attempt: z.int(), rungs: z.int() }));
type Judged = z.infer<typeof JudgedFile>;

/** Delay in which changes are collected before they are written, ms. */
const WRITE_MS = 20;
const MOST_BYTES = 16 << 20;

/**
 * A file with the number of early-termination rungs at which each live run has been judged: the next supervisor judges a run at
 * those that it passed meanwhile, and at no other again.
 */
export class JudgedRungs {
  readonly #path: string | null;
  readonly #before: Judged;
  readonly #now: Judged = {};
  #writing: NodeJS.Timeout | null = null;

  /** @param path Null: nothing is stored. */
  constructor(path: string | null) {
    this.#path = path;
    this.#before = path === null ? {} : readJudged(path);
  }

  /** The number stored for this attempt by an earlier reader; null: none. */
  before(id: RunId, attempt: number): number | null {
    const known = this.#before[id];
    return known?.attempt === attempt ? known.rungs : null;
  }

  set(id: RunId, attempt: number, rungs: number): void {
    const known = this.#now[id];
    if (known?.attempt === attempt && known.rungs === rungs) return;
    this.#now[id] = { attempt, rungs };
    this.#writeSoon();
  }

  delete(id: RunId): void {
    if (this.#now[id] === undefined) return;
    delete this.#now[id];
    this.#writeSoon();
  }

  close(): void {
    if (this.#writing !== null) clearTimeout(this.#writing);
  }

  #writeSoon(): void {
    const path = this.#path;
    if (path === null) return;
    this.#writing ??= setTimeout(() => {
      this.#writing = null;
      try {
        writeWhole(path, JSON.stringify(this.#now));
      } catch {
        // The disk is full: the next supervisor takes these runs as judged.
      }
    }, WRITE_MS).unref();
  }
}

function readJudged(path: string): Judged {
  const read = readRegular(path, MOST_BYTES);
  if (read.kind !== 'text') return {};
  try {
    return JudgedFile.parse(JSON.parse(read.text));
  } catch {
    return {};
  }
}
