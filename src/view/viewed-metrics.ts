import { describeSources, type MetricsReport } from '../metrics/describe-sources.js';
import type { Line } from '../metrics/downsample.js';
import type { Clock } from '../metrics/axes.js';
import { openOutlinedMetrics } from '../metrics/outlined-metrics.js';
import type { RunMetrics } from '../metrics/run-metrics.js';

/**
 * The metrics of a viewed run for charts: those that were read for its row, once it has ended and all of them are there; until then,
 * they are read from its files.
 */
export class ViewedMetrics {
  readonly #directory: string;
  readonly #find: () => RunMetrics | null;
  #kept: RunMetrics | null = null;
  #own: ReturnType<typeof openOutlinedMetrics> | null = null;

  /** @param find Returns what was read for the row of the run; null: the run still writes, or its metrics are not kept. */
  constructor(directory: string, find: () => RunMetrics | null) {
    this.#directory = directory;
    this.#find = find;
  }

  /** Reads a further part, if need be; returns true when the result has changed. */
  refresh(): boolean {
    const before = this.#kept;
    this.#kept = this.#find();
    if (this.#kept === null) return this.#read.refresh();
    this.#own = null;
    return this.#kept !== before;
  }

  get more(): boolean {
    return this.#kept === null && this.#read.more;
  }

  keys(): string[] {
    return (this.#kept ?? this.#read).keys();
  }

  series(key: string, xKey?: string): Line {
    return (this.#kept ?? this.#read).series(key, xKey);
  }

  get clock(): Clock {
    return (this.#kept ?? this.#read).clock;
  }

  describe(): MetricsReport {
    return this.#kept === null ? this.#read.describe() : describeSources(this.#kept);
  }

  /** What is read here. */
  get #read(): ReturnType<typeof openOutlinedMetrics> {
    return (this.#own ??= openOutlinedMetrics(this.#directory));
  }
}
