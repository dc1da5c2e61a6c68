import type { RowSink, SourceFiles, SourceReader } from './format.js';

/** Cost of checking a file, as the number of bytes that could be read in the same time. */
const COST_OF_LOOK = 1024;

/**
 * Reads the files of a source one after the other, like one file: those of a run's attempts, each of which begins at a checkpoint.
 */
export class FilesInTurn implements SourceReader {
  readonly #source: SourceFiles;
  readonly #open: (path: string) => SourceReader;
  #readers = new Map<string, SourceReader>();
  #more = false;
  /** Index of the file that is read next. */
  #next = 0;
  #offset = 0;

  constructor(source: SourceFiles, open: (path: string) => SourceReader) {
    this.#source = source;
    this.#open = open;
  }

  get offset(): number {
    return this.#offset;
  }

  get more(): boolean {
    return this.#more;
  }

  get isHindered(): boolean {
    return this.#all().some(({ isHindered }) => isHindered);
  }

  get written(): SourceReader['written'] {
    const times = this.#all().flatMap(({ written }) => written ?? []);
    if (times.length === 0) return null;
    return { from: Math.min(...times.map(({ from }) => from)), to: Math.max(...times.map(({ to }) => to)) };
  }

  get obstacle(): string | null {
    return this.#all().find(({ obstacle }) => obstacle !== null)?.obstacle ?? null;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const { paths } = this.#source;
    let changed = false;
    // New files were found before known ones, so all are checked again.
    if (this.#next >= paths.length) this.#next = 0;
    for (let left = maxBytes; this.#next < paths.length; this.#next++) {
      const reader = this.#readerOf(paths[this.#next]!);
      const { offset } = reader;
      const others = this.#offset - offset;
      let isVoid = false;
      const own: RowSink = {
        ...sink,
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

  /** Starts over after one of the files was rewritten, as the sink drops the rows of all. */
  #beginAgain(sink: RowSink): true {
    this.#readers = new Map();
    this.#next = this.#offset = 0;
    sink.restart();
    return (this.#more = true);
  }

  #readerOf(path: string): SourceReader {
    const known = this.#readers.get(path) ?? this.#open(path);
    this.#readers.set(path, known);
    return known;
  }

  #all(): SourceReader[] {
    return [...this.#readers.values()];
  }
}
