import { dirname, join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import type { ChartLine } from '../../contract/study.js';
import { statRegular, textOrNull } from '../regular-file.js';
import { studyNames } from '../sweep-folder.js';

type ReadLines = (path: string) => readonly ChartLine[];

/** Time between two looks at the studies of a run, and at the names of those of a sweep, ms. */
const LOOK_MS = 1000;
const NAMES_MS = 5000;
/** Limit on the runs, and on the files, that are kept. */
const MOST_KEPT = 1000;
const none: readonly ChartLine[] = [];

/**
 * The lines that studies declare for the charts of runs: the study of a run, and those of its sweep. A file is read again when it
 * has changed. The reader of studies is loaded with the first file, since most runs have none.
 */
export class ChartLines {
  readonly #runs = new Map<string, { readonly at: number; readonly lines: readonly ChartLine[] }>();
  readonly #names = new Map<string, { readonly at: number; readonly names: readonly string[] }>();
  readonly #files = new Map<string, { readonly stamp: string; readonly lines: readonly ChartLine[] }>();
  #read: ReadLines | null = null;
  #reading: Promise<void> | null = null;

  /** The lines for the charts of a run; the same list while they are the same. */
  of(directory: string): readonly ChartLine[] {
    const known = this.#runs.get(directory);
    if (known !== undefined && performance.now() - known.at < LOOK_MS) return known.lines;
    const found = this.#pathsFor(directory).flatMap((path) => this.#in(path));
    const isSame = found.length === known?.lines.length && found.every((line, at) => line === known.lines[at]);
    const lines = isSame ? known.lines : found.length === 0 ? none : found;
    keep(this.#runs, directory, { at: this.#reading === null ? performance.now() : -Infinity, lines });
    return lines;
  }

  #pathsFor(directory: string): string[] {
    const sweep = dirname(directory);
    return [join(directory, runFiles.study), ...this.#namesIn(sweep).map((name) => join(sweep, name))];
  }

  #namesIn(sweep: string): readonly string[] {
    const known = this.#names.get(sweep);
    if (known !== undefined && performance.now() - known.at < NAMES_MS) return known.names;
    const names = studyNames(sweep);
    keep(this.#names, sweep, { at: performance.now(), names });
    return names;
  }

  #in(path: string): readonly ChartLine[] {
    const seen = statRegular(path);
    if (seen.kind !== 'file') return none;
    const stamp = `${seen.stat.ino} ${seen.stat.size} ${seen.stat.mtimeMs}`;
    const known = this.#files.get(path);
    if (known?.stamp === stamp) return known.lines;
    if (this.#read === null) {
      this.#reading ??= this.#load().finally(() => (this.#reading = null));
      return known?.lines ?? none;
    }
    const lines = this.#read(path);
    keep(this.#files, path, { stamp, lines });
    return lines;
  }

  async #load(): Promise<void> {
    const { readStudy, studyLimits } = await import('../../contract/study.js');
    this.#read = (path) => {
      const text = textOrNull(path, studyLimits.bytes);
      return (text === null ? null : readStudy(text))?.lines ?? none;
    };
  }
}

/** Stores a value as the newest; the oldest goes. */
function keep<Value>(all: Map<string, Value>, name: string, value: Value): void {
  all.delete(name);
  all.set(name, value);
  if (all.size > MOST_KEPT) all.delete(all.keys().next().value!);
}
