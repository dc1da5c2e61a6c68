import { statRegular } from '../files/regular-file.js';
import { type Bounds, defaultBounds } from './bounded-series.js';
import { type Line, spark } from './downsample.js';
import type { MetricFormat, RowSink, SourceReader } from './formats/format.js';
import { metricFormats } from './formats/registry.js';
import { type MetricRow, MetricTable } from './metric-table.js';

export type { MetricRow } from './metric-table.js';

export type MetricListener = {
  /**
   * Each row as it is read, also one that replaces an earlier step. `isPast`: it was there before (see `hasPast`). Null: to
   * make one for nobody takes a third of the time.
   */
  row: ((row: MetricRow, isPast: boolean) => void) | null;
  /** What was written was replaced: the rows come again from the first, all of them new. */
  restart: () => void;
};

export type MetricsOptions = {
  listener?: MetricListener;
  /** How much of each series to keep; what a person looks at needs no more than the default. */
  keep?: Bounds;
  /** What is there at the first look was written before, by an earlier attempt, and its rows are told as such. */
  hasPast?: boolean;
  formats?: readonly MetricFormat[];
};

/** What reading a part amounted to. `changed`: something new was read. `more`: a further part could be read at once. */
export type PartRead = { changed: boolean; bytes: number; more: boolean };

/** Lets others work between two parts of a long reading. */
export type Pause = () => Promise<void>;

/** Read per refresh: some 50 ms of work, so that a long file does not stop the screen. */
const DEFAULT_BYTES = 8 << 20;
/** Read between two pauses: some 2 ms of work. */
const BYTES_BETWEEN_PAUSES = 1 << 18;

/** The metrics of the run of this directory, in whatever format they are written. Nothing is read before `refresh`. */
export function openMetrics(runDirectory: string, options: MetricsOptions = {}): RunMetrics {
  return new RunMetrics(runDirectory, options);
}

/**
 * The metrics of one run, kept up with as they grow, in memory that does not grow with them.
 *
 * Each source is read by its format and filed as `MetricTable` says; where two sources have a metric of the same name, the
 * first counts. Series longer than about 30,000 points are exact at their end and lowest-and-highest before.
 */
export class RunMetrics {
  readonly #directory: string;
  readonly #formats: readonly MetricFormat[];
  readonly #listener: MetricListener | null;
  readonly #keep: Bounds;
  /** In the order in which they were found. */
  #sources: readonly Source[] = [];

  /** Use `openMetrics`. */
  constructor(directory: string, { listener, keep, hasPast, formats }: MetricsOptions) {
    this.#directory = directory;
    this.#listener = listener ?? null;
    this.#keep = keep ?? defaultBounds;
    this.#formats = formats ?? metricFormats;
    this.#detect(hasPast ?? false);
  }

  /** Where they are written, or will be: who waits for a change may watch these. */
  get paths(): string[] {
    return this.#sources.map(({ path }) => path);
  }

  /** Rows kept: those of replaced steps do not count. */
  get rows(): number {
    return this.#sources.reduce((sum, { table }) => sum + table.rows, 0);
  }

  /** Whether the last refresh stopped at its limit of bytes: call it again to catch up. */
  get more(): boolean {
    return this.#sources.some(({ more }) => more);
  }

  /** Whether what was there at the first look has not all been read yet; false without `hasPast`. */
  get isInPast(): boolean {
    return this.#sources.some((source) => source.isInPast);
  }

  /** What cannot be read, in words; null: nothing. */
  get obstacle(): string | null {
    return this.#sources.map(({ reader }) => reader.obstacle).find((words) => words !== null) ?? null;
  }

  /** Takes in a part of what has been written since the last call. Where nothing was, that costs one look at size and time. */
  refresh(maxBytes = DEFAULT_BYTES): PartRead {
    this.#detect(false);
    let changed = false;
    let bytes = 0;
    // By place: a restart puts others in the places of those that have to be read again.
    for (let place = 0; place < this.#sources.length; place++) {
      if (bytes > 0 && bytes >= maxBytes) return { changed, bytes, more: true };
      const source = this.#sources[place]!;
      const { offset } = source.reader;
      if (source.read(maxBytes - bytes, this.#sinkOf(source))) changed = true;
      bytes += Math.max(0, source.reader.offset - offset);
    }
    return { changed, bytes, more: this.more };
  }

  /** Reads to the present end, at once, whatever it takes. */
  readNow(): this {
    do this.refresh();
    while (this.more);
    return this;
  }

  /** Reads to the present end, in small parts where there is a pause to be made between them. */
  async readToEnd(pause?: Pause): Promise<this> {
    if (pause === undefined) return this.readNow();
    do {
      this.refresh(BYTES_BETWEEN_PAUSES);
      await pause();
    } while (this.more);
    return this;
  }

  /** Keys that had a number or null in some row, in the order of their first appearance. */
  keys(): string[] {
    const keys = this.#sources.flatMap(({ table }) => table.keys());
    return this.#sources.length > 1 ? [...new Set(keys)] : keys;
  }

  /** One metric against another, as `MetricTable.series` gives it. Valid until the next refresh. */
  series(key: string, xKey = 'step'): Line {
    const source = this.#sources.find(({ table }) => table.has(key));
    return source === undefined ? nothing : source.table.series(key, xKey);
  }

  /** The last value of every metric; null where it is not a finite number. */
  last(): Record<string, number | null> {
    const [first, ...others] = this.#sources.map(({ table }) => table.last());
    return others.reduce((known, last) => ({ ...last, ...known }), first ?? {});
  }

  /** A small picture of one metric, as `spark` gives it; empty for an unknown key. */
  spark(key: string): (number | null)[] {
    return spark(this.series(key).y);
  }

  /** Takes up sources that were not there before. */
  #detect(hasPast: boolean): void {
    for (const format of this.#formats) {
      for (const path of format.detect(this.#directory)) {
        if (this.#sources.some((source) => source.path === path)) continue;
        this.#sources = [...this.#sources, new Source(path, format, this.#keep, hasPast)];
      }
    }
  }

  #sinkOf(source: Source): RowSink {
    return {
      row: (row) => {
        if (source.table.take(row)) this.#listener?.row?.(source.table.lastRow(), source.isReadingPast);
      },
      restart: () => {
        source.forget();
        // Who listens forgets all rows, so those of other sources have to come again as well.
        this.#sources = this.#sources.map((other) => (other === source ? source : other.reopened()));
        this.#listener?.restart();
      },
    };
  }
}

const nothing: Line = { x: new Float64Array(0), y: new Float64Array(0) };

/** One file of a run, and how far it has been read. */
class Source {
  readonly path: string;
  readonly reader: SourceReader;
  readonly #format: MetricFormat;
  readonly #keep: Bounds;
  #table: MetricTable;
  #isReopened = false;
  /** Bytes that were there before; null: not looked yet. */
  #past: number | null;
  #isReadingPast = false;

  constructor(path: string, format: MetricFormat, keep: Bounds, hasPast: boolean) {
    this.path = path;
    this.reader = format.open(path);
    this.#format = format;
    this.#keep = keep;
    this.#table = new MetricTable(keep);
    this.#past = hasPast ? null : 0;
  }

  get table(): MetricTable {
    return this.#table;
  }

  get more(): boolean {
    return this.#isReopened || this.reader.more;
  }

  get isInPast(): boolean {
    return this.#past === null || this.reader.offset < this.#past;
  }

  /** Whether the part that is just being read was there before. */
  get isReadingPast(): boolean {
    return this.#isReadingPast;
  }

  /** The same file, of which nothing has been read. */
  reopened(): Source {
    const again = new Source(this.path, this.#format, this.#keep, false);
    again.#isReopened = true;
    return again;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    this.#isReopened = false;
    this.#past ??= sizeOf(this.path);
    return this.isInPast ? this.#readPast(maxBytes, sink) : this.reader.read(maxBytes, sink);
  }

  forget(): void {
    this.#table = new MetricTable(this.#keep);
    this.#past = 0;
    this.#isReadingPast = false;
  }

  /** Reads no further than what was there at first. */
  #readPast(maxBytes: number, sink: RowSink): boolean {
    const { offset } = this.reader;
    const left = (this.#past ?? 0) - offset;
    this.#isReadingPast = true;
    const changed = this.reader.read(Math.min(maxBytes, left), sink);
    this.#isReadingPast = false;
    // Its last row is torn: whoever completes it writes it now.
    const isTorn = left <= maxBytes && this.reader.offset <= offset && !this.reader.isHindered;
    if (isTorn && this.#past !== null) this.#past = 0;
    return changed;
  }
}

/** Bytes; null where it cannot be read. */
function sizeOf(path: string): number | null {
  const there = statRegular(path);
  if (there.kind === 'unreadable') return null;
  return there.kind === 'file' ? there.stat.size : 0;
}
