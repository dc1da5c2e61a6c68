import type { Line } from './downsample.js';
import type { WrittenRow } from './formats/format.js';
import type { MetricRow } from './row-numbers.js';

/** What one source has said, as one series for each key, in bounded memory. */
export type Filing = {
  /** Rows kept: those of replaced steps do not count. */
  readonly rows: number;
  /** Whether a key orders the rows, and not only their number. */
  readonly hasSteps: boolean;
  /** When the first row was written, Unix ms; null: not known yet. */
  readonly firstTime: number | null;
  readonly clock: Clock;
  /** Files a row; false when there is no number in it. `time`, `part`: as `RowSink.row` has them. */
  take: (row: WrittenRow, time?: number, part?: number) => boolean;
  /** Says when rows of unknown time were written: the first of all at `from`, the last at `to`, Unix ms; others in between. */
  stamp: (from: number, to: number) => void;
  /** Whether the key had a number or null in some row. */
  has: (key: string) => boolean;
  /** The numbers of the row taken last. */
  lastRow: () => MetricRow;
  /** Keys that had a number or null in some row, in the order of their first appearance. */
  keys: () => string[];
  /** One metric against another, or over `step` or `wallTime`. Do not change the arrays; valid until the next row. */
  series: (key: string, xKey?: string) => Line;
  /** The last value of every metric; null where it is not a finite number. */
  last: () => Record<string, number | null>;
};

/**
 * Where it is known from when values were written. `values`: they say so themselves. `files`: from when their file was made and
 * changed. Null: not known, for the file was written at one moment, as a copy is.
 */
export type Clock = 'values' | 'files' | null;

/** A file in which all was written within this time says nothing of when, ms. */
const ONE_MOMENT_MS = 1000;

/** What times of these are worth that were made of those of the file. */
export function clockOfFile(first: number, last: number): Clock {
  return last - first >= ONE_MOMENT_MS ? 'files' : null;
}

/** The x axis of when a value was written, Unix seconds: of every run, also one that writes no times. No key has this name. */
export const wallTime = '(wall time)';
/** The same in seconds since the run wrote its first value. */
export const relativeTime = '(relative time)';

export const noLine: Line = { x: new Float64Array(0), y: new Float64Array(0) };

/** A line over `wallTime` as one over `relativeTime`. `origin`: Unix seconds. The same object for the same line. */
export function sinceStart(line: Line, origin: number): Line {
  const known = relatives.get(line);
  if (known?.origin === origin) return known.line;
  // A new object a frame would be a new picture a frame.
  const relative = { x: line.x.map((time) => time - origin), y: line.y };
  relatives.set(line, { origin, line: relative });
  return relative;
}

const relatives = new WeakMap<Line, { origin: number; line: Line }>();

export function inSeconds(ms: Float64Array): Float64Array {
  return ms.map((time) => time / 1000);
}
