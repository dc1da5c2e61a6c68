import { basename, dirname, join } from 'node:path';
import { FollowedBytes } from '../../files/followed-file.js';
import { statRegular } from '../../files/regular-file.js';
import type { MetricFormat, RowSink, SourceFiles, SourceReader } from './format.js';
import { LARGEST_JSON, ObjectScan } from './json-file.js';
import { RewrittenRows } from './source-files.js';

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
  #scan = historyScan();
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

  get isWaiting(): boolean {
    return this.#file?.isBehind === true;
  }

  get obstacle(): string | null {
    const obstacle = this.#file?.obstacle ?? null;
    return obstacle === null ? null : `trainer_state.json cannot be read: ${obstacle}`;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const { path, born } = lastWritten(this.#source.paths);
    this.#born = born;
    if (path === null) return (this.#more = false);
    if (this.#file?.path !== path) this.#begin(new FollowedBytes(path, LARGEST_JSON));
    const file = this.#file!;
    const { offset } = file;
    let isKept = true;
    const { restarted, more } = file.read(maxBytes, (bytes, { isNew }) => {
      if (isNew) this.#rescan();
      return this.#scan.take(bytes, (row) => (isKept &&= this.#rows.take(row, sink)));
    });
    this.#more = more || !isKept;
    if (!isKept) {
      this.#rows.forget();
      sink.restart();
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
    this.#scan = historyScan();
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

/** The rows are the objects of the list `log_history`. */
function historyScan(): ObjectScan {
  return new ObjectScan((keys) => keys.length === 2 && keys[1] === 'log_history', LONGEST);
}
