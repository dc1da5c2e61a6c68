import { basename, dirname, join } from 'node:path';
import { parseJsonLine } from '../../contract/json-line.js';
import { FollowedBytes, type Taken } from '../../files/followed-bytes.js';
import { statRegular } from '../../files/regular-file.js';
import type { MetricFormat, RowSink, SourceFiles, SourceReader } from './format.js';
import { RewrittenRows } from './rewritten-rows.js';

/**
 * The history that Hugging Face's Trainer saves with each checkpoint, and finally beside them. Each file has all rows of the
 * earlier ones; the latest is read.
 */
export const trainerState: MetricFormat = {
  name: 'Hugging Face trainer_state.json',
  looksFor: 'trainer_state.json, in checkpoint-N/ or beside them',
  filing: 'rows',
  isSnapshot: true,
  isNamed: (name) => name === 'trainer_state.json',
  recognise: ({ name, path }) => ({ is: 'yes', why: 'its name', source: join(outputOf(path), name) }),
  open: (files) => new TrainerState(files),
};

function outputOf(path: string): string {
  const folder = dirname(path);
  return /^checkpoint-\d+$/.test(basename(folder)) ? dirname(folder) : folder;
}

/** Size limit of a row in bytes. */
const LONGEST = 1 << 20;

class TrainerState implements SourceReader {
  readonly #source: SourceFiles;
  readonly #rows = new RewrittenRows();
  #file: FollowedBytes | null = null;
  #scan = new HistoryScan();
  #more = true;
  /** When the first of the files was created, Unix ms. */
  #born = Infinity;

  constructor(source: SourceFiles) {
    this.#source = source;
  }

  get offset(): number {
    return this.#file?.offset ?? 0;
  }

  get more(): boolean {
    return this.#more;
  }

  get written(): SourceReader['written'] {
    const written = this.#file?.written ?? null;
    return written === null ? null : { from: this.#born, to: written.to };
  }

  get isHindered(): boolean {
    return this.#file !== null && this.#file.obstacle !== null;
  }

  get obstacle(): string | null {
    const obstacle = this.#file?.obstacle ?? null;
    return obstacle === null ? null : `trainer_state.json cannot be read: ${obstacle}`;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const { path, born } = lastWritten(this.#source.paths);
    this.#born = born;
    if (path === null) return (this.#more = false);
    if (this.#file?.path !== path) this.#begin(new FollowedBytes(path));
    const file = this.#file!;
    const { offset } = file;
    let isKept = true;
    const { restarted, more } = file.read(maxBytes, (bytes, { isNew }) => {
      if (isNew) this.#rescan();
      return this.#scan.take(bytes, (row) => (isKept &&= this.#rows.take(row, sink)));
    });
    this.#more = more || !isKept;
    if (!isKept) {
      this.#rows.forget(sink);
      file.rewind();
      this.#rescan();
    }
    return restarted || !isKept || file.offset > offset;
  }

  #begin(file: FollowedBytes): void {
    this.#file = file;
    this.#rescan();
  }

  #rescan(): void {
    this.#scan = new HistoryScan();
    this.#rows.rescan();
  }
}

/**
 * Of files written within this time, ms, the longer one is the later: the last checkpoint's and the final one, or files of a copied
 * folder.
 */
const TOGETHER_MS = 2000;

/** `born`: when the first of the files was created, Unix ms; Infinity if unknown. */
function lastWritten(paths: readonly string[]): { path: string | null; born: number } {
  let last: { path: string; at: number; size: number } | null = null;
  let born = Infinity;
  for (const path of paths) {
    const there = statRegular(path);
    const {
      mtimeMs: at,
      size,
      birthtimeMs,
    } = there.kind === 'file' ? there.stat : { mtimeMs: -1, size: 0, birthtimeMs: 0 };
    const isLater = last === null || (Math.abs(at - last.at) > TOGETHER_MS ? at > last.at : size > last.size);
    if (isLater) last = { path, at, size };
    if (birthtimeMs > 0) born = Math.min(born, birthtimeMs);
  }
  return { path: last?.path ?? null, born };
}

const sign = { quote: 34, escape: 92, open: 123, close: 125, begin: 91, end: 93 };
const KEY = 'log_history';

/**
 * Finds the objects of the list `log_history` in a stream of JSON, with any white space, without parsing the rest: the file may be
 * long, and incomplete.
 */
class HistoryScan {
  /** Nesting depth at the start of the next bytes; 1 is the outer object. */
  #depth = 0;
  #isInList = false;
  #lastText = '';

  /** Calls `row` for complete objects; an incomplete one must be passed again. */
  take(bytes: Buffer, row: (values: Record<string, unknown>) => void): Taken {
    let at = 0;
    while (at < bytes.length) {
      const next = this.#step(bytes, at, row);
      if (next < 0)
        return bytes.length - at < LONGEST ? { done: at, needs: LONGEST } : { done: bytes.length, needs: 0 };
      at = next;
    }
    return { done: at, needs: 0 };
  }

  /** The index after the next token; negative: it is incomplete. */
  #step(bytes: Buffer, at: number, row: (values: Record<string, unknown>) => void): number {
    const byte = bytes[at]!;
    if (byte === sign.quote) return this.#text(bytes, at);
    if (byte === sign.open && this.#isInList) return takeObject(bytes, at, row);
    if (byte === sign.open || byte === sign.begin) this.#goIn(byte);
    else if (byte === sign.close || byte === sign.end) this.#goOut();
    return at + 1;
  }

  #goIn(bracket: number): void {
    this.#depth += 1;
    if (bracket === sign.begin && this.#depth === 2 && this.#lastText === KEY) this.#isInList = true;
  }

  #goOut(): void {
    this.#depth -= 1;
    this.#isInList = false;
  }

  #text(bytes: Buffer, at: number): number {
    const end = textEnd(bytes, at);
    if (end > 0) this.#lastText = bytes.toString('utf8', at + 1, Math.min(end - 1, at + 1 + KEY.length + 1));
    return end;
  }
}

function takeObject(bytes: Buffer, from: number, row: (values: Record<string, unknown>) => void): number {
  let depth = 0;
  for (let at = from; at < bytes.length;) {
    const byte = bytes[at]!;
    if (byte === sign.quote) {
      at = textEnd(bytes, at);
      if (at < 0) return -1;
      continue;
    }
    at += 1;
    if (byte === sign.open) depth += 1;
    else if (byte === sign.close) depth -= 1;
    if (depth > 0) continue;
    const values = parseJsonLine(bytes.toString('utf8', from, at));
    if (values !== null) row(values);
    return at;
  }
  return -1;
}

/** The index after the string that begins at `from`; negative: it has no end yet. */
function textEnd(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    if (bytes[at] === sign.escape) at += 1;
    else if (bytes[at] === sign.quote) return at + 1;
  }
  return -1;
}
