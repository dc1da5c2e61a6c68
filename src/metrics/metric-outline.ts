import type { Line } from './downsample.js';
import { type Filing, relativeTime, sinceStart, wallTime } from './filing.js';
import type { MetricFormat, RowPicker } from './formats/format.js';
import { MetricTable } from './metric-table.js';
import { PointTable } from './point-table.js';
import { timeOf } from './row-time.js';

/** A place of a file of points gives several of each metric. */
const pointBounds = { older: 2048, exact: 1024 };

/**
 * The shape of a long file's curves from a few hundred of its rows, so that something can be drawn at once. What lies between
 * is not seen: a peak may be missing. Only a file whose rows have a step can be outlined.
 */
export class MetricOutline {
  readonly #rows: RowPicker;
  readonly #table: Filing;

  /** @param places How many rows there will be at most. */
  constructor(rows: RowPicker, places: number, filing: MetricFormat['filing'] = 'rows') {
    this.#rows = rows;
    this.#table = filing === 'rows' ? new MetricTable({ older: 0, exact: places }) : new PointTable(pointBounds);
  }

  /** What has been taken so far, in the order of the file. */
  get table(): Filing {
    return this.#table;
  }

  /** As `RunMetrics.series`. */
  series(key: string, xKey: string): Line {
    if (xKey !== relativeTime) return this.#table.series(key, xKey);
    return sinceStart(this.#table.series(key, wallTime), (this.#table.firstTime ?? NaN) / 1000);
  }

  get isComplete(): boolean {
    return this.#rows.isComplete;
  }

  /** Takes so many further rows. */
  take(count: number): void {
    this.#rows.pick(count, (row, time = NaN) => {
      this.#table.take(row, Number.isNaN(time) ? (timeOf(row) ?? NaN) : time);
    });
  }
}
