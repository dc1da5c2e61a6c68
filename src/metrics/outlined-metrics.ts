import { statRegular } from '../files/regular-file.js';
import { everyPoint } from './curve.js';
import { describeSources, type MetricsReport } from './describe-sources.js';
import { type Clock, inOrder, type Line, noLine, relativeTime, sinceStart, wallTime } from './line.js';
import type { MetricFormat, RowPicker } from './formats/format.js';
import { MetricTable } from './metric-table.js';
import { openMetrics, type RunMetrics } from './run-metrics.js';
import type { Source } from './source.js';

/** A shorter file is read almost as fast as it is outlined, bytes. */
const LONG = 8 << 20;
/** Number of rows in an outline: about the number of columns in a chart. */
const PLACES = 240;
/** Number of rows, or of bytes, that one refresh reads: a few ms of work, so that the caller is not blocked. */
const PLACES_A_TURN = 40;
const BYTES_A_TURN = 384 << 10;
/** Points kept of each series: more than the widest chart has columns, and few enough for a screen full of runs. */
const keep = { older: 4096, exact: 2048 };

/** Like `openMetrics`, for interactive use. */
export function openOutlinedMetrics(runDirectory: string): OutlinedMetrics {
  return new OutlinedMetrics(openMetrics(runDirectory, { keep }), PLACES);
}

/** The same with every point and without an outline, for a caller that reads a run once and then frees it. */
export function openWholeMetrics(runDirectory: string): OutlinedMetrics {
  return new OutlinedMetrics(openMetrics(runDirectory, { keep: everyPoint }), 0);
}

/**
 * The metrics of one run for interactive use: a long file is outlined first, and then read completely in small parts.
 *
 * Until everything has been read, the outline is returned; then the complete metrics.
 */
class OutlinedMetrics {
  readonly #metrics: RunMetrics;
  readonly #places: number;
  #outline: MetricOutline | null = null;
  /** The name of a metric of the outline. */
  #nameOf = (key: string): string => key;
  #isNew = true;

  /** @param places Number of rows in the outline; 0: there is none. */
  constructor(metrics: RunMetrics, places: number) {
    this.#metrics = metrics;
    this.#places = places;
  }

  /** Whether another `refresh` would read more at once. */
  get more(): boolean {
    return this.#isNew || this.#outline !== null || this.#metrics.more;
  }

  /** Reads a further part; returns true when the result has changed. */
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
    const keys = this.#metrics.keys();
    if (!this.#tellsOutline) return keys;
    return [...new Set([...this.#outline!.table.keys().map(this.#nameOf), ...keys])];
  }

  /** One metric over another, like `MetricTable.series`. Valid until the next refresh. */
  series(key: string, xKey = 'step'): Line {
    if (!this.#tellsOutline) return this.#metrics.series(key, xKey);
    const outline = this.#outline!;
    const axis = xKey === 'step' ? (this.#metrics.sourceOf(key)?.reader.declared?.axisOf(key) ?? xKey) : xKey;
    const own = outline.table.keys().find((each) => this.#nameOf(each) === key);
    const outlined = own === undefined ? noLine : inOrder(outline.series(own, axis));
    return outlined.y.length > 0 ? outlined : this.#metrics.series(key, xKey);
  }

  /** Where the times of values come from. */
  get clock(): Clock {
    return (this.#tellsOutline ? this.#outline!.table.clock : null) ?? this.#metrics.clock;
  }

  /** Where the metrics are, and why, as far as they have been read. */
  describe(): MetricsReport {
    return describeSources(this.#metrics);
  }

  #begin(): void {
    this.#isNew = false;
    const { source, outline } = outlineOf(this.#metrics, this.#places) ?? {};
    this.#outline = outline ?? null;
    // What a program declares of its metrics stands at the beginning.
    if (source !== undefined && 'declared' in source.reader) this.#metrics.refresh(BYTES_A_TURN);
    this.#nameOf = (key) => (source === undefined ? key : this.#metrics.nameIn(source, key));
  }

  /** Without steps, the rows of an outline would have no place on the x axis. */
  get #tellsOutline(): boolean {
    return this.#outline !== null && this.#outline.table.hasSteps;
  }
}

/** The outline of the run's first long source that allows picking rows; null: there is none. */
function outlineOf({ told }: RunMetrics, places: number): { source: Source; outline: MetricOutline } | null {
  for (const source of places === 0 ? [] : told) {
    const { format, paths } = source.found;
    const long = format.pickFrom === undefined ? undefined : paths.find(isLong);
    if (long !== undefined)
      return { source, outline: new MetricOutline(format.pickFrom!(long, places), places, format.filing) };
  }
  return null;
}

function isLong(path: string): boolean {
  const there = statRegular(path);
  return there.kind === 'file' && there.stat.size >= LONG;
}

/** A file of points has several points of each metric per place. */
const pointBounds = { older: 2048, exact: 1024 };

/**
 * The approximate curves of a long file from a few hundred of its rows, so that they can be drawn at once. Values between these are
 * not read: a peak may be missing. Only a file whose rows have a step can be outlined.
 */
export class MetricOutline {
  readonly #rows: RowPicker;
  readonly #table: MetricTable;

  /** @param places Greatest number of rows. */
  constructor(rows: RowPicker, places: number, filing: MetricFormat['filing'] = 'rows') {
    this.#rows = rows;
    this.#table = new MetricTable(filing === 'rows' ? { older: 0, exact: places } : pointBounds, filing);
  }

  /** The rows taken so far, in file order. */
  get table(): MetricTable {
    return this.#table;
  }

  /** Like `RunMetrics.series`. */
  series(key: string, xKey: string): Line {
    if (xKey !== relativeTime) return this.#table.series(key, xKey);
    return sinceStart(this.#table.series(key, wallTime), (this.#table.firstTime ?? NaN) / 1000);
  }

  get isComplete(): boolean {
    return this.#rows.isComplete;
  }

  /** Takes `count` further rows. */
  take(count: number): void {
    this.#rows.pick(count, (row, time) => void this.#table.take(row, time));
  }
}
