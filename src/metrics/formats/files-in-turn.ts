import type { RowSink, SourceFiles, SourceReader } from './format.js';

/** Reads the files of a source one after the other, as one: those of attempts at a run, each of which begins where a checkpoint was. */
export class FilesInTurn implements SourceReader {
  readonly #source: SourceFiles;
  readonly #open: (path: string) => SourceReader;
  #readers = new Map<string, SourceReader>();
  #more = false;

  constructor(source: SourceFiles, open: (path: string) => SourceReader) {
    this.#source = source;
    this.#open = open;
  }

  get offset(): number {
    return this.#all().reduce((sum, { offset }) => sum + offset, 0);
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
    let changed = false;
    let left = maxBytes;
    for (const path of this.#source.paths) {
      const reader = this.#readerOf(path);
      const { offset } = reader;
      const others = this.offset - offset;
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
      left -= Math.max(0, reader.offset - offset);
      // What comes later was written later.
      this.#more = reader.more || (left <= 0 && path !== this.#source.paths.at(-1));
      if (this.#more) return changed;
    }
    return changed;
  }

  /** One of several was written anew: who is told has forgotten the rows of all. */
  #beginAgain(sink: RowSink): true {
    this.#readers = new Map();
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
