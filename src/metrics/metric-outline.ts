import type { Line } from './downsample.js';
import { relativeTime, sinceStart, wallTime } from './axes.js';
import type { MetricFormat, RowPicker } from './formats/format.js';
import { MetricTable } from './metric-table.js';

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
