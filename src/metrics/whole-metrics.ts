import { everyPoint } from './bounded-series.js';
import type { Line } from './downsample.js';
import { openMetrics, type RunMetrics } from './run-metrics.js';

/** Bytes read per refresh: a few ms of work, so that the caller is not blocked. */
const BYTES_A_TURN = 384 << 10;

/** Like `openMetrics`, with every point, in small parts, for a caller that reads a run once and then frees it. */
export function openWholeMetrics(runDirectory: string): WholeMetrics {
  return new WholeMetrics(runDirectory);
}

class WholeMetrics {
  readonly #metrics: RunMetrics;
  #isNew = true;

  /** Use `openWholeMetrics` instead. */
  constructor(runDirectory: string) {
    this.#metrics = openMetrics(runDirectory, { keep: everyPoint });
  }

  /** Whether another `refresh` would read more at once. */
  get more(): boolean {
    return this.#isNew || this.#metrics.more;
  }

  /** Reads a further part; returns true when something was read. */
  refresh(): boolean {
    this.#isNew = false;
    return this.#metrics.refresh(BYTES_A_TURN).changed;
  }

  keys(): string[] {
    return this.#metrics.keys();
  }

  /** One metric over another, like `Filing.series`. Valid until the next refresh. */
  series(key: string, xKey = 'step'): Line {
    return this.#metrics.series(key, xKey);
  }
}
