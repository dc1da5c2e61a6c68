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

/** The x axis of when a value was written, Unix seconds: of every run, also one that writes no times. No key has this name. */
export const wallTime = '(wall time)';
/** The same in seconds since the run wrote its first value. */
export const relativeTime = '(relative time)';

export const noLine: Line = { x: new Float64Array(0), y: new Float64Array(0) };

export function inSeconds(ms: Float64Array): Float64Array {
  return ms.map((time) => time / 1000);
}
