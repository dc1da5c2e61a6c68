import type { Line } from './downsample.js';
import type { PointTaker, WrittenRow } from './formats/format.js';
import type { MetricRow } from './row-numbers.js';

/** The rows of one source, as one series for each key, in bounded memory. */
export type Filing = {
  /** Number of rows, without those of replaced steps. */
  readonly rows: number;
  /** Memory of the series, bytes. */
  readonly bytes: number;
  /** Whether the rows have a key of steps, and are not only numbered. */
  readonly hasSteps: boolean;
  /** When the first row was written, Unix ms; null: unknown. */
  readonly firstTime: number | null;
  readonly clock: Clock;
  /** Adds a row; returns false if it contains no number. `time`, `part`: as in `RowSink.row`. */
  take: (row: WrittenRow, time?: number, part?: number) => boolean;
  /** Adds single points of a part. Absent: only rows are added. */
  readonly points?: (part: number) => PointTaker;
  /** Sets when rows of unknown time were written: the first at `from`, the last at `to`, Unix ms; others in between. */
  stamp: (from: number, to: number) => void;
  /** Whether the key had a number or null in some row. */
  has: (key: string) => boolean;
  /** The numbers of the row that was added last. */
  lastRow: () => MetricRow;
  /** Keys that had a number or null in some row, in the order of their first appearance. */
  keys: () => string[];
  /** One metric over another, or over `step` or `wallTime`. The arrays are read-only and valid until the next row. */
  series: (key: string, xKey?: string) => Line;
  /** The last value of every metric; null where it is not a finite number. */
  last: () => Record<string, number | null>;
};

/**
 * Where the times of values come from. `values`: the rows have times. `files`: from when the file was created and changed. Null:
 * unknown, as the file was written at once, like a copy.
 */
export type Clock = 'values' | 'files' | null;

/** The times of a file that was written within this time, in ms, tell nothing about its rows. */
const ONE_MOMENT_MS = 1000;

/** The kind of clock that the times of a file provide. */
export function clockOfFile(first: number, last: number): Clock {
  return last - first >= ONE_MOMENT_MS ? 'files' : null;
}

/** Name of the x axis of the time when a value was written, Unix seconds; every run has it. No metric has this name. */
export const wallTime = '(wall time)';
/** Name of the x axis of seconds since the run wrote its first value. */
export const relativeTime = '(relative time)';

export const noLine: Line = { x: new Float64Array(0), y: new Float64Array(0) };

/**
 * Converts a line over `wallTime` to one over `relativeTime`. `origin`: Unix seconds. Returns the same object for the same line.
 */
export function sinceStart(line: Line, origin: number): Line {
  const known = relatives.get(line);
  if (known?.origin === origin) return known.line;
  // A new object in each frame would make the chart be drawn anew in each frame.
  const relative = { x: line.x.map((time) => time - origin), y: line.y };
  relatives.set(line, { origin, line: relative });
  return relative;
}

const relatives = new WeakMap<Line, { origin: number; line: Line }>();

export function inSeconds(ms: Float64Array): Float64Array {
  return ms.map((time) => time / 1000);
}
