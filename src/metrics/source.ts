import { type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { isSettledTime } from '../files/file-system-time.js';
import { statRegular } from '../files/regular-file.js';
import type { Bounds } from './curve.js';
import type { Detection, FoundSource } from './detection.js';
import { inOrder, type Line, noLine } from './line.js';
import type { RowSink, SourceReader } from './formats/format.js';
import { MetricTable } from './metric-table.js';

/** One source of a run, with its reading position and its rows. */
export class Source {
  readonly found: FoundSource;
  readonly reader: SourceReader;
  readonly #keep: Bounds;
  #table: MetricTable;
  /** Whether it has to be read, or is being read. */
  #isUnread = false;
  /** Number of bytes from before; null: not determined yet; 0: all of them have been read. */
  #past: number | null;
  #isReadingPast = false;

  constructor(found: FoundSource, keep: Bounds, hasPast: boolean) {
    this.found = found;
    this.reader = found.format.open(found);
    this.#keep = keep;
    this.#table = this.#newTable();
    this.#past = hasPast ? null : 0;
  }

  get table(): MetricTable {
    return this.#table;
  }

  /** The metrics of this source. */
  keys(): string[] {
    const { settings, declared } = this.reader;
    const keys = this.known();
    if (declared === undefined && (settings === undefined || settings.size === 0)) return keys;
    return keys.filter((key) => settings?.has(key) !== true && declared?.isInternal(key) !== true);
  }

  /** All keys, those of settings and of the writer itself included. */
  known(): string[] {
    const keys = this.#table.keys();
    const { declared } = this.reader;
    if (declared === undefined || declared.values.size === 0) return keys;
    return [...new Set([...keys, ...declared.values.keys()])];
  }

  /** Whether it has no value. */
  get isEmpty(): boolean {
    return this.#table.rows === 0 && (this.reader.declared?.values.size ?? 0) === 0;
  }

  has(key: string): boolean {
    return this.#table.has(key) || this.reader.declared?.values.has(key) === true;
  }

  /** As `MetricTable.series`; over the metric that the program has declared as the x axis, in place of its steps. */
  series(key: string, xKey = 'step'): Line {
    const { declared } = this.reader;
    if (declared === undefined) return this.#table.series(key, xKey);
    if (!this.#table.has(key)) return this.#valueAlone(key, xKey);
    const axis = xKey === 'step' ? declared.axisOf(key) : null;
    if (axis === null || !this.#table.has(axis)) return this.#table.series(key, xKey);
    return inOrder(this.#table.series(key, axis));
  }

  /** A value without rows, where the rows end. */
  #valueAlone(key: string, xKey: string): Line {
    const value = this.reader.declared?.values.get(key);
    if (value === undefined) return noLine;
    const [first] = this.#table.keys();
    const x = first === undefined ? 0 : (this.#table.series(first, xKey).x.at(-1) ?? 0);
    return { x: Float64Array.of(x), y: Float64Array.of(value) };
  }

  /** The value of every metric that stands for the run: the one that the program has said, or the last; null where it is NaN. */
  last(): Record<string, number | null> {
    const last = this.#table.last();
    const { settings = [], declared } = this.reader;
    for (const key of settings) delete last[key];
    if (declared === undefined) return last;
    for (const key of Object.keys(last)) if (declared.isInternal(key) || declared.isCurveAlone(key)) delete last[key];
    for (const [key, value] of declared.values) last[key] = Number.isNaN(value) ? null : value;
    return last;
  }

  /** Keys of values that are settings of the program. */
  settings(): string[] {
    return [...(this.reader.settings ?? [])];
  }

  get more(): boolean {
    return this.#isUnread || this.reader.more;
  }

  get isInPast(): boolean {
    return this.#past === null || this.#past > 0;
  }

  /** Whether the part that is being read was there before. */
  get isReadingPast(): boolean {
    return this.#isReadingPast;
  }

  /** The same source with nothing read. @param hasPast Whether what is there is from before. */
  reopened(hasPast: boolean): Source {
    const again = new Source(this.found, this.#keep, hasPast);
    again.#isUnread = true;
    return again;
  }

  /** @param told Called after each row that was added; null: nobody wants to know. */
  read(maxBytes: number, told: (() => void) | null, restart: () => void): boolean {
    this.#isUnread = true;
    this.#past ??= this.#size();
    const beginAgain = () => {
      this.#past = 0;
      this.#isReadingPast = false;
      restart();
    };
    const sink: RowSink = {
      row: (row, time, part) => {
        if (this.#table.take(row, time, part)) told?.();
      },
      ...(told === null && { points: (part) => this.#table.points(part) }),
      attempt: () => this.#table.attempt(),
      purge: (from, part) => this.#table.purge(from, part),
      // Curves keep what stands before the new rows; who judges rows begins with the first of them.
      reopened: () => {
        this.#table.attempt();
        beginAgain();
      },
      restart: () => {
        this.#table = this.#newTable();
        beginAgain();
      },
    };
    const changed = this.isInPast ? this.#readPast(maxBytes, sink) : this.reader.read(maxBytes, sink);
    this.#isUnread = false;
    if (changed && !this.reader.more) this.#stamp();
    return changed;
  }

  #newTable(): MetricTable {
    return new MetricTable(this.#keep, this.found.format.filing);
  }

  /** Reads at most to the end of what was there at first. */
  #readPast(maxBytes: number, sink: RowSink): boolean {
    const { offset } = this.reader;
    const left = (this.#past ?? 0) - offset;
    this.#isReadingPast = true;
    const changed = this.reader.read(Math.min(maxBytes, left), sink);
    this.#isReadingPast = false;
    // Its last row is incomplete, and will be completed by the present attempt.
    const isTorn = left <= maxBytes && this.reader.offset <= offset && !this.reader.isHindered;
    if (isTorn || this.reader.offset >= (this.#past ?? 0)) this.#past &&= 0;
    return changed;
  }

  /** Sets the time of rows without one: they were written between the creation of their file and its last change. */
  #stamp(): void {
    const { written } = this.reader;
    if (written === null) return;
    const { from, to } = written;
    // Some file systems do not record the time of creation.
    this.#table.stamp(from > 0 ? Math.min(from, to) : to, to);
  }

  /** Size in bytes; null if it is not readable. */
  #size(): number | null {
    let size = 0;
    for (const path of this.found.paths) {
      const there = statRegular(path);
      if (there.kind === 'unreadable') return null;
      size += there.kind === 'file' ? there.stat.size : 0;
    }
    return size;
  }
}

/** The state of the files that metrics are read from. An equal `text` means equal content, whichever process computed it. */
export type SourcesIdentity = {
  readonly text: string;
  /** Total size of all files. */
  readonly bytes: number;
  /** The latest modification time, Unix ms. */
  readonly writtenAt: number;
};

/**
 * Made of device, inode, size and times of each file and of those that belong to it. It includes the ctime, which programs cannot
 * set, so a file that was rewritten with the same size and its old mtime is recognised as another one. Null: a file is not
 * readable.
 */
export function identityOf(sources: readonly FoundSource[]): SourcesIdentity | null {
  const files: unknown[] = [];
  let [bytes, writtenAt] = [0, 0];
  for (const source of sources) {
    files.push(source.id);
    for (const path of pathsOf(source)) {
      const there = statRegular(path);
      if (there.kind === 'unreadable') return null;
      if (there.kind === 'absent') continue;
      files.push([path, ...stateIn(there.stat)]);
      bytes += there.stat.size;
      writtenAt = Math.max(writtenAt, there.stat.mtimeMs);
    }
  }
  return { text: JSON.stringify(files), bytes, writtenAt };
}

/** Limit on the files and folders of a run that are looked at in place of a search. */
const MOST_PATHS = 64;

/**
 * Paths from whose states it can be told, without a search, that a run has the sources that were found, with the same content; null:
 * they are too many.
 */
export function decidingPaths({ sources, looksAt }: Pick<Detection, 'sources' | 'looksAt'>): readonly string[] | null {
  const paths = [...new Set([...looksAt, ...sources.flatMap(pathsOf)])];
  return paths.length > MOST_PATHS ? null : paths;
}

/** The present state of files and folders. Null: one may change within the time that it has now, or cannot be looked at. */
export function stateOf(paths: readonly string[]): string | null {
  try {
    const stats = paths.map((path) => statSync(path, { throwIfNoEntry: false }));
    if (!stats.every((stat) => stat === undefined || isSettledTime(stat.mtimeMs))) return null;
    return JSON.stringify(stats.map((stat) => stat && stateIn(stat)));
  } catch {
    return null;
  }
}

function pathsOf({ format, paths }: FoundSource): string[] {
  const besides = (path: string) => (format.besides?.(basename(path)) ?? []).map((ending) => path + ending);
  const all = paths.flatMap((path) => [path, ...besides(path), ...(format.readsToo?.(path) ?? [])]);
  return [...new Set(all)];
}

function stateIn({ dev, ino, size, mtimeMs, ctimeMs }: Stats): number[] {
  return [dev, ino, size, mtimeMs, ctimeMs];
}
