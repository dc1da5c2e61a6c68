import { describeSources, type MetricsReport } from '../metrics/describe-sources.js';
import type { Clock, Line } from '../metrics/line.js';
import { openOutlinedMetrics } from '../metrics/outlined-metrics.js';
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
