import type { LogLine } from '../../../logs/log-file.js';

/** The part of a log that is in memory. */
export type LogPage = {
  /** Size of the whole log in bytes. */
  readonly size: number;
  /** Byte range of `lines`, from `from` to before `to`. */
  readonly from: number;
  readonly to: number;
  readonly lines: readonly LogLine[];
  /** Number of the first line, from 1; null if it was not reached from the start of the log. */
  readonly firstNumber: number | null;
  /** Start of the line that gives the reason of the failure; null: none is known. */
  readonly failure: number | null;
  /** The position for which this part was read first. */
  readonly anchor: number;
};

/** Index of the line that contains the byte `offset`, or of the nearest line if it is outside. -1 without lines. */
export function lineAt({ lines }: LogPage, offset: number): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle]!.offset <= offset) low = middle + 1;
    else high = middle;
  }
  return Math.max(Math.min(0, lines.length - 1), low - 1);
}

/** Whether the page reaches the end of the log. */
export function isAtEnd({ to, size }: LogPage): boolean {
  return to >= size;
}
