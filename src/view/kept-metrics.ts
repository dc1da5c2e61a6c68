import type { RunMetrics } from '../metrics/run-metrics.js';

/** Limit on the memory of what is kept, bytes. */
const MOST_BYTES = 128 << 20;

/** The metrics of ended runs that were used last, in bounded memory, so that charts need not read their files again. */
export class KeptMetrics {
  readonly #most: number;
  /** By the run's directory, least recently used first. */
  readonly #kept = new Map<string, RunMetrics>();
  #bytes = 0;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  get(directory: string): RunMetrics | null {
    const metrics = this.#kept.get(directory);
    if (metrics === undefined) return null;
    this.#kept.delete(directory);
    this.#kept.set(directory, metrics);
    return metrics;
  }

  /** Keeps metrics, all of which have been read. */
  keep(directory: string, metrics: RunMetrics): void {
    this.#drop(directory);
    this.#kept.set(directory, metrics);
    this.#bytes += bytesOf(metrics);
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#most) return;
      this.#drop(oldest);
    }
  }

  #drop(directory: string): void {
    const metrics = this.#kept.get(directory);
    if (metrics !== undefined) this.#bytes -= bytesOf(metrics);
    this.#kept.delete(directory);
  }
}

function bytesOf({ all }: RunMetrics): number {
  return all.reduce((sum, { table }) => sum + table.bytes, 0);
}
