import { statRegular } from '../files/regular-file.js';
import type { Bounds } from './bounded-series.js';
import type { FoundSource } from './detection.js';
import type { Filing } from './filing.js';
import type { RowSink, SourceReader } from './formats/format.js';
import { MetricTable } from './metric-table.js';
import { PointTable } from './point-table.js';
import { timeOf } from './row-time.js';

/** One source of a run, with its reading position and its rows. */
export class Source {
  readonly found: FoundSource;
  readonly reader: SourceReader;
  readonly #keep: Bounds;
  #table: Filing;
  #isReopened = false;
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

  get table(): Filing {
    return this.#table;
  }

  /** The metrics of this source. */
  keys(): string[] {
    const keys = this.#table.keys();
    const { settings } = this.reader;
    return settings === undefined || settings.size === 0 ? keys : keys.filter((key) => !settings.has(key));
  }

  /** The last value of every metric; null where it is not a finite number. */
  last(): Record<string, number | null> {
    const last = this.#table.last();
    for (const key of this.reader.settings ?? []) delete last[key];
    return last;
  }

  /** Keys of values that are settings of the program. */
  settings(): string[] {
    return [...(this.reader.settings ?? [])];
  }

  get more(): boolean {
    return this.#isReopened || this.reader.more;
  }

  get isInPast(): boolean {
    return this.#past === null || this.#past > 0;
  }

  /** Whether the part that is being read was there before. */
  get isReadingPast(): boolean {
    return this.#isReadingPast;
  }

  /** The same source with nothing read. */
  reopened(): Source {
    const again = new Source(this.found, this.#keep, false);
    again.#isReopened = true;
    return again;
  }

  /** @param told Called after each row that was added; null: nobody wants to know. */
  read(maxBytes: number, told: (() => void) | null, restart: () => void): boolean {
    this.#isReopened = false;
    this.#past ??= this.#size();
    const sink: RowSink = {
      row: (row, time = NaN, part = 0) => {
        if (this.#table.take(row, Number.isNaN(time) ? (timeOf(row) ?? NaN) : time, part)) told?.();
      },
      ...(told === null && this.#table.points !== undefined && { points: (part) => this.#table.points!(part) }),
      restart: () => {
        this.#table = this.#newTable();
        this.#past = 0;
        this.#isReadingPast = false;
        restart();
      },
    };
    const changed = this.isInPast ? this.#readPast(maxBytes, sink) : this.reader.read(maxBytes, sink);
    if (changed && !this.reader.more) this.#stamp();
    return changed;
  }

  #newTable(): Filing {
    return this.found.format.filing === 'rows' ? new MetricTable(this.#keep) : new PointTable(this.#keep);
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
