import type { RowSink, SourceFiles, SourceReader } from './format.js';

/** Cost of checking a file, as the number of bytes that could be read in the same time. */
const COST_OF_LOOK = 1024;

/**
 * How files of one source belong together. `attempts`: each is a later attempt's than the one before. `parts`: their order counts, and
 * each row says of which it is. `metrics`: each has another metric.
 */
export type Order = 'attempts' | 'parts' | 'metrics';

/** Reads the files of a source one after the other, like one file. */
export class FilesInTurn<Reader extends SourceReader = SourceReader> implements SourceReader {
  readonly #source: SourceFiles;
  readonly #open: (path: string, part: number) => Reader;
  readonly #order: Order;
  /** Index of the last file that had a row. */
  #written = 0;
  #readers = new Map<string, Reader>();
  #more = false;
  /** Index of the file that is read next. */
  #next = 0;
  #offset = 0;

  /** @param open Called once for each file with its number. */
  constructor(source: SourceFiles, open: (path: string, part: number) => Reader, order: Order = 'attempts') {
    this.#source = source;
    this.#open = open;
    this.#order = order;
  }

  get offset(): number {
    return this.#offset;
  }

  get more(): boolean {
    return this.#more;
  }

  get isHindered(): boolean {
    return this.readers().some(({ isHindered }) => isHindered);
  }

  get isWaiting(): boolean {
    return this.readers().some(({ isWaiting }) => isWaiting);
  }

  get written(): SourceReader['written'] {
    const times = this.readers().flatMap(({ written }) => written ?? []);
    if (times.length === 0) return null;
    return { from: Math.min(...times.map(({ from }) => from)), to: Math.max(...times.map(({ to }) => to)) };
  }

  get obstacle(): string | null {
    return this.readers().find(({ obstacle }) => obstacle !== null)?.obstacle ?? null;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const { paths } = this.#source;
    let changed = false;
    if (this.#isOutOfOrder(paths)) return this.#beginAgain(sink);
    // New files were found before known ones, so all are checked again.
    if (this.#next >= paths.length) this.#next = 0;
    for (let left = maxBytes; this.#next < paths.length; this.#next++) {
      const reader = this.#readerOf(paths[this.#next]!);
      const { offset } = reader;
      const others = this.#offset - offset;
      let isVoid = false;
      const own: RowSink = {
        ...sink,
        row: (row, time, part) => {
          if (this.#order === 'attempts' && this.#next > this.#written) sink.attempt?.();
          this.#written = this.#next;
          sink.row(row, time, part);
        },
        restart: () => {
          isVoid = others > 0;
          sink.restart();
        },
      };
      if (reader.read(left, own)) changed = true;
      if (isVoid) return this.#beginAgain(sink);
      this.#offset += reader.offset - offset;
      left -= Math.max(COST_OF_LOOK, reader.offset - offset);
      // The order of files is the order of writing.
      this.#more = reader.more;
      if (reader.more) return changed;
      if (left > 0 || this.#next === paths.length - 1) continue;
      this.#next += 1;
      return (this.#more = true) && changed;
    }
    this.#next = 0;
    return changed;
  }

  /** Whether a new file sorts before a known one. */
  #isOutOfOrder(paths: readonly string[]): boolean {
    if (this.#order === 'metrics') return false;
    let place = 0;
    for (const path of this.#readers.keys()) if (path !== paths[place++]) return true;
    return false;
  }

  /** Starts over after a file was rewritten or came between others, as the sink drops the rows of all. */
  #beginAgain(sink: RowSink): true {
    this.#readers = new Map();
    this.#next = this.#offset = this.#written = 0;
    sink.restart();
    return (this.#more = true);
  }

  #readerOf(path: string): Reader {
    const known = this.#readers.get(path) ?? this.#open(path, this.#next);
    this.#readers.set(path, known);
    return known;
  }

  /** Those of the files that have been read, in their order. */
  protected readers(): Reader[] {
    return [...this.#readers.values()];
  }
}
