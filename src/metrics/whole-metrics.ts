import { everyPoint } from './bounded-series.js';
import type { Line } from './downsample.js';
import { openMetrics, type RunMetrics } from './run-metrics.js';

/** Bytes for one refresh: a few ms of work, so that whoever is waiting in between waits no longer. */
const BYTES_A_TURN = 384 << 10;

/** As `openMetrics`, with every point, in small parts: for who takes what is needed of it and lets go. */
export function openWholeMetrics(runDirectory: string): WholeMetrics {
  return new WholeMetrics(runDirectory);
}

class WholeMetrics {
  readonly #metrics: RunMetrics;
  #isNew = true;

  /** Use `openWholeMetrics`. */
  constructor(runDirectory: string) {
    this.#metrics = openMetrics(runDirectory, { keep: everyPoint });
  }

  /** Whether another `refresh` would do more at once. */
  get more(): boolean {
    return this.#isNew || this.#metrics.more;
  }

  /** Reads a further part; true when something was. */
  refresh(): boolean {
    this.#isNew = false;
    return this.#metrics.refresh(BYTES_A_TURN).changed;
  }

  keys(): string[] {
    return this.#metrics.keys();
  }

  /** One metric against another, as `Filing.series` gives it. Valid until the next refresh. */
  series(key: string, xKey = 'step'): Line {
    return this.#metrics.series(key, xKey);
  }
}
