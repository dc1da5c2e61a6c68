import { type Line, lowerBound } from './downsample.js';

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

/** The curves of a source, as `MetricTable` has them. */
type Curves = { readonly keys: () => string[]; readonly series: (key: string, xKey?: string) => Line };

/**
 * A line over `wallTime` on an axis of another source: each value is placed where that source was at the time. The same object for
 * the same line. @param xKey As in `MetricTable.series`. Null: the source has no times, or not that axis.
 */
export function placedByTime(line: Line, source: Curves, xKey: string): Line | null {
  const first = xKey === 'step' ? source.keys()[0] : xKey;
  if (first === undefined) return null;
  const overTime = source.series(first, wallTime);
  if (overTime.x.length === 0) return null;
  const known = placed.get(line);
  if (known?.by === overTime) return known.line;
  const axis = { x: overTime.x, y: xKey === 'step' ? source.series(first).x : overTime.y };
  const found = { x: interpolated(line.x, axis), y: line.y };
  placed.set(line, { by: overTime, line: found });
  return found;
}

/** The last axis on which a line was placed. */
const placed = new WeakMap<Line, { by: Line; line: Line }>();

/** A line with its points in the order of their x, those of one x as they were. The same object for the same line. */
export function inOrder(line: Line): Line {
  if (line.x.every((value, at) => at === 0 || value >= line.x[at - 1]!)) return line;
  const known = ordered.get(line);
  if (known !== undefined) return known;
  const places = Array.from(line.x, (_, at) => at).sort((one, other) => line.x[one]! - line.x[other]!);
  const found = {
    x: Float64Array.from(places, (at) => line.x[at]!),
    y: Float64Array.from(places, (at) => line.y[at]!),
  };
  ordered.set(line, found);
  return found;
}

const ordered = new WeakMap<Line, Line>();

/** The line's y at each of these x: linear between its points, constant beyond them. */
export function interpolated(x: Float64Array, line: Line): Float64Array {
  return x.map((value) => {
    const after = lowerBound(line.x, line.x.length, value);
    if (after === 0 || line.x[after] === value) return line.y[after]!;
    if (after === line.x.length) return line.y[after - 1]!;
    const [from, to] = [line.x[after - 1]!, line.x[after]!];
    return line.y[after - 1]! + ((value - from) / (to - from)) * (line.y[after]! - line.y[after - 1]!);
  });
}
