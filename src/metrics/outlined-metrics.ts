import { statRegular } from '../files/regular-file.js';
import type { Line } from './downsample.js';
import type { MetricFormat, RowPicker } from './formats/format.js';
import { metricFormats } from './formats/registry.js';
import { MetricTable } from './metric-table.js';
import { openMetrics, type RunMetrics } from './run-metrics.js';

/** A shorter file is read about as soon as it is outlined, bytes. */
const LONG = 8 << 20;
/** Rows of an outline: a chart has about as many columns. */
const PLACES = 240;
/** Rows, or bytes, for one refresh: a few ms of work, so that whoever is waiting in between waits no longer. */
const PLACES_A_TURN = 40;
const BYTES_A_TURN = 384 << 10;
/** What is kept of each series: more than the widest chart has columns, and little enough for a screen full of runs. */
const keep = { older: 4096, exact: 2048 };

/** As `openMetrics`, for a person who waits. */
export function openOutlinedMetrics(runDirectory: string): OutlinedMetrics {
  return new OutlinedMetrics(runDirectory);
}

/**
 * The metrics of one run for a person who waits: a long file is outlined first, and then all is read in small parts.
 *
 * Until everything has been read, it is the outline that is told; then all that was written.
 */
export class OutlinedMetrics {
  readonly #directory: string;
  readonly #metrics: RunMetrics;
  #outline: MetricOutline | null = null;
  #isNew = true;

  /** Use `openOutlinedMetrics`. */
  constructor(runDirectory: string) {
    this.#directory = runDirectory;
    this.#metrics = openMetrics(runDirectory, { keep });
  }

  /** Whether another `refresh` would do more at once. */
  get more(): boolean {
    return this.#isNew || this.#outline !== null || this.#metrics.more;
  }

  /** Reads a further part; true when something else is told than before. */
  refresh(): boolean {
    if (this.#isNew) this.#begin();
    const outline = this.#outline;
    if (outline !== null && !outline.isComplete) {
      outline.take(PLACES_A_TURN);
      return outline.isComplete && outline.table.hasSteps;
    }
    const { changed } = this.#metrics.refresh(BYTES_A_TURN);
    if (this.#metrics.more) return changed && !this.#tellsOutline;
    this.#outline = null;
    return changed;
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
    this.#outline = outlineOf(this.#directory, PLACES, metricFormats);
  }

  /** Without steps, the rows of an outline would have no place on the x axis. */
  get #tellsOutline(): boolean {
    return this.#outline !== null && this.#outline.table.hasSteps;
  }

  get #told(): Pick<RunMetrics, 'keys' | 'series'> {
    return this.#outline !== null && this.#tellsOutline ? this.#outline.table : this.#metrics;
  }
}

/** The outline of the run's first long source that rows can be picked from; null: there is none. */
function outlineOf(directory: string, places: number, formats: readonly MetricFormat[]): MetricOutline | null {
  for (const { detect, pickFrom } of formats) {
    const long = pickFrom === undefined ? undefined : detect(directory).find(isLong);
    if (long !== undefined) return new MetricOutline(pickFrom!(long, places), places);
  }
  return null;
}

function isLong(path: string): boolean {
  const there = statRegular(path);
  return there.kind === 'file' && there.stat.size >= LONG;
}

/**
 * The shape of a long file's curves from a few hundred of its rows, so that something can be drawn at once. What lies between
 * is not seen: a peak may be missing. Only a file whose rows have a step can be outlined.
 */
export class MetricOutline {
  readonly #rows: RowPicker;
  readonly #table: MetricTable;

  /** @param places How many rows there will be at most. */
  constructor(rows: RowPicker, places: number) {
    this.#rows = rows;
    this.#table = new MetricTable({ older: 0, exact: places });
  }

  /** What has been taken so far, in the order of the file. */
  get table(): MetricTable {
    return this.#table;
  }

  get isComplete(): boolean {
    return this.#rows.isComplete;
  }

  /** Takes so many further rows. */
  take(count: number): void {
    this.#rows.pick(count, (row) => this.#table.take(row));
  }
}
