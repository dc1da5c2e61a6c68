import { type Bounds, defaultBounds } from './bounded-series.js';
import type { Line } from './downsample.js';
import { FollowedFile, LONGEST_LINE } from '../files/followed-file.js';
import { type MetricRow, MetricTable } from './metric-table.js';

export type { MetricRow } from './metric-table.js';

export type MetricListener = {
  /** Each row as it is read, also one that replaces an earlier step; null: to make one for nobody takes a third of the time. */
  onRow: ((row: MetricRow) => void) | null;
  /** The file was replaced or rewritten: its rows come again from the first. */
  onRestart: () => void;
};

/** Read per refresh: some 50 ms of work, so that a long file does not stop the screen. */
const DEFAULT_BYTES = 8 << 20;
const NEWLINE = 10;

/**
 * The metrics of one run, kept up with its growing JSON-lines file, in memory that does not grow with it.
 *
 * Rows are filed as `MetricTable` says. Series longer than about 30,000 points are exact at their end and
 * lowest-and-highest before.
 */
export class MetricLog {
  readonly #file: FollowedFile;
  readonly #listener: MetricListener | null;
  readonly #bounds: Bounds;
  #table: MetricTable;
  #more = false;
  #skipped = 0;

  /** @param bounds How much of each series to keep; what a person looks at needs no more than the default. */
  constructor(path: string, listener: MetricListener | null = null, bounds = defaultBounds) {
    this.#file = new FollowedFile(path);
    this.#listener = listener;
    this.#bounds = bounds;
    this.#table = new MetricTable(bounds);
  }

  /** Rows kept: those of replaced steps do not count. */
  get rows(): number {
    return this.#table.rows;
  }

  /** Whether the last refresh stopped at its limit of bytes: call it again to catch up. */
  get more(): boolean {
    return this.#more;
  }

  /** Bytes of the file that have been taken in. */
  get offset(): number {
    return this.#file.offset;
  }

  /** Why the file could not be read at the last refresh, in words; null: it could, or there is none. */
  get obstacle(): string | null {
    return this.#file.obstacle;
  }

  /** How many lines were too long to be rows, and are left out. */
  get skipped(): number {
    return this.#file.skipped + this.#skipped;
  }

  /** Takes in what the file has gained since the last call; true if anything changed. */
  refresh(maxBytes = DEFAULT_BYTES): boolean {
    const { restarted, bytes, more } = this.#file.read(maxBytes);
    this.#more = more;
    if (restarted) this.#forget();
    for (let from = 0; from < bytes.length;) {
      const end = bytes.indexOf(NEWLINE, from);
      if (end - from > LONGEST_LINE) this.#skipped += 1;
      else this.#take(bytes.toString('utf8', from, end));
      from = end + 1;
    }
    return restarted || bytes.length > 0;
  }

  /** Keys that had a number or null in some row, in the order of their first appearance. */
  keys(): string[] {
    return this.#table.keys();
  }

  /** One metric against another, as `MetricTable.series` gives it. Valid until the next refresh. */
  series(key: string, xKey = 'step'): Line {
    return this.#table.series(key, xKey);
  }

  /** The last value of every metric; null where it is not a finite number. */
  last(): Record<string, number | null> {
    return this.#table.last();
  }

  #take(line: string): void {
    const isRow = this.#table.takeLine(line);
    if (isRow) this.#listener?.onRow?.(this.#table.lastRow());
  }

  #forget(): void {
    this.#skipped = 0;
    this.#table = new MetricTable(this.#bounds);
    this.#listener?.onRestart();
  }
}
