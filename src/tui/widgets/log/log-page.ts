import type { LogLine } from '../../../logs/log-file.js';

/** The part of a log that is in memory. */
export type LogPage = {
  /** Bytes of the whole log. */
  readonly size: number;
  /** Bytes of it that `lines` are. */
  readonly from: number;
  readonly to: number;
  readonly lines: readonly LogLine[];
  /** Number of the first of the lines, from 1; null when it was not reached from the start of the log. */
  readonly firstNumber: number | null;
  /** Beginning of the line that says why the run failed. */
  readonly failure: number | null;
  /** The place for which this part was read first. */
  readonly anchor: number;
};

/** Index of the line that holds the byte `offset`; that of the nearest line for a place outside. -1 without lines. */
export function lineAt({ lines }: LogPage, offset: number): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle]!.offset <= offset) low = middle + 1;
    else high = middle;
  }
  return Math.max(Math.min(0, lines.length - 1), low - 1);
}

/** Whether the log ends with this page. */
export function isAtEnd({ to, size }: LogPage): boolean {
  return to >= size;
}
