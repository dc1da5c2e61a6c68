import { closeSync, readSync } from 'node:fs';
import { openRegular, statRegular } from '../files/regular-file.js';
import type { Line } from './downsample.js';
import { MetricLog } from './metric-log.js';
import { MetricTable } from './metric-table.js';

/** A shorter file is read about as soon as it is outlined. */
const LONG = 8 << 20;
/** Lines of an outline: a chart has about as many columns. */
const PLACES = 240;
/** Lines, or bytes, for one refresh: a few ms of work, so that whoever is waiting in between waits no longer. */
const PLACES_A_TURN = 40;
const BYTES_A_TURN = 384 << 10;
/** What is kept of each series: more than the widest chart has columns, and little enough for a screen full of runs. */
const bounds = { older: 4096, exact: 2048 };

/**
 * The metrics of one run for a person who waits: a long file is outlined first, and then read in small parts.
 *
 * Until the whole file has been read, it is the outline that is told; then all that the file says.
 */
export class OutlinedLog {
  readonly #log: MetricLog;
  readonly #path: string;
  #outline: MetricOutline | null = null;
  #isNew = true;

  constructor(path: string) {
    this.#path = path;
    this.#log = new MetricLog(path, null, bounds);
  }

  /** Whether another `refresh` would do more at once. */
  get more(): boolean {
    return this.#isNew || this.#outline !== null || this.#log.more;
  }

  /** Reads a further part; true when something else is told than before. */
  refresh(): boolean {
    if (this.#isNew) this.#begin();
    const outline = this.#outline;
    if (outline !== null && !outline.isComplete) {
      outline.take(PLACES_A_TURN);
      return outline.isComplete && outline.table.hasSteps;
    }
    const hasNews = this.#log.refresh(BYTES_A_TURN);
    if (this.#log.more) return hasNews && !this.#tellsOutline;
    this.#outline = null;
    return hasNews;
  }

  keys(): string[] {
    return this.#told.keys();
  }

  /** One metric against another, as `MetricTable.series` gives it. Valid until the next refresh. */
  series(key: string, xKey = 'step'): Line {
    return this.#told.series(key, xKey);
  }

  #begin(): void {
    this.#isNew = false;
    const there = statRegular(this.#path);
    if (there.kind === 'file' && there.stat.size >= LONG) this.#outline = new MetricOutline(this.#path, PLACES);
  }

  /** Without steps, the lines of an outline would have no place on the x axis. */
  get #tellsOutline(): boolean {
    return this.#outline !== null && this.#outline.table.hasSteps;
  }

  get #told(): Pick<MetricLog, 'keys' | 'series'> {
    return this.#outline !== null && this.#tellsOutline ? this.#outline.table : this.#log;
  }
}

const NEWLINE = 10;
/** Lines looked for at first; a longer one needs a wider look. */
const FIRST_LOOK = 4 << 10;
/** A file of longer lines is read from its beginning only. */
const WIDEST_LOOK = 256 << 10;

/**
 * The shape of a long file's curves from a few hundred of its lines, so that something can be drawn at once.
 *
 * The lines are taken at places spread evenly over the file as it was at first, the first and the last line among
 * them. What lies between is not seen: a peak may be missing. Only a file whose rows have a step can be outlined.
 */
export class MetricOutline {
  readonly #path: string;
  readonly #places: number;
  readonly #table: MetricTable;
  #next = 0;
  #size: number | null = null;
  #look = FIRST_LOOK;
  #buffer = Buffer.alloc(FIRST_LOOK);

  /** @param places How many lines to take; at least two. */
  constructor(path: string, places: number) {
    this.#path = path;
    this.#places = places;
    this.#table = new MetricTable({ older: 0, exact: places });
  }

  /** What has been taken so far, in the order of the file. */
  get table(): MetricTable {
    return this.#table;
  }

  get isComplete(): boolean {
    return this.#next >= this.#places;
  }

  /** Takes so many further lines. A file that cannot be read has none. */
  take(count: number): void {
    const end = Math.min(this.#places, this.#next + count);
    const opened = openRegular(this.#path);
    if (opened.kind !== 'file') {
      this.#next = this.#places;
      return;
    }
    try {
      this.#size ??= opened.stat.size;
      for (; this.#next < end; this.#next++) this.#takeLineAt(opened.descriptor, this.#size);
    } catch {
      // The disk or the network failed a read: what there is will be drawn when all has been read.
      this.#next = this.#places;
    } finally {
      closeSync(opened.descriptor);
    }
  }

  #takeLineAt(descriptor: number, size: number): void {
    const isLast = this.#next === this.#places - 1;
    for (;;) {
      const room = Math.max(0, size - this.#look);
      const from = isLast ? room : Math.floor((room * this.#next) / (this.#places - 1));
      const length = readSync(descriptor, this.#buffer, 0, this.#look, from);
      const line = wholeLine(this.#buffer.subarray(0, length), from === 0, isLast);
      if (line !== null) this.#table.takeLine(line);
      if (line !== null || this.#look >= WIDEST_LOOK || length < this.#look) return;
      this.#look *= 4;
      this.#buffer = Buffer.alloc(this.#look);
    }
  }
}

/** The first whole line of what was read, or the last; null when there is none. `begins`: a line begins at its start. */
function wholeLine(bytes: Buffer, begins: boolean, wantsLast: boolean): string | null {
  const end = wantsLast ? bytes.lastIndexOf(NEWLINE) : bytes.indexOf(NEWLINE, begins ? 0 : bytes.indexOf(NEWLINE) + 1);
  if (end <= 0) return null;
  const before = bytes.lastIndexOf(NEWLINE, end - 1);
  return before < 0 && !begins ? null : bytes.toString('utf8', before + 1, end);
}
