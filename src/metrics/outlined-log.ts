import { statRegular } from '../files/regular-file.js';
import type { Line } from './downsample.js';
import { MetricLog } from './metric-log.js';
import { MetricOutline } from './metric-outline.js';

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
