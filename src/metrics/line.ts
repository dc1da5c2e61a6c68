/** A line to draw: one point per index. NaN in `y` is a gap. */
export type Line = { x: Float64Array; y: Float64Array };

export const noLine: Line = { x: new Float64Array(0), y: new Float64Array(0) };

/**
 * Reduces a line to points that look the same in a chart of that many columns: of each column the lowest and the highest, in their
 * order. A column of gaps keeps one gap. Returns the line itself if it is short enough.
 *
 * @param line `x` does not fall. Columns are of equal width in `x`.
 */
export function downsample(line: Line, columns: number): Line {
  const { x, y } = line;
  if (columns < 1 || x.length <= 2 * columns) return line;
  const kept = new Uint32Array(2 * columns);
  const count = pickExtremes(line, columns, kept);
  const picked = kept.subarray(0, count);
  return { x: Float64Array.from(picked, (index) => x[index]!), y: Float64Array.from(picked, (index) => y[index]!) };
}

function pickExtremes({ x, y }: Line, columns: number, kept: Uint32Array): number {
  const first = x[0]!;
  const width = (x[x.length - 1]! - first) / columns;
  let count = 0;
  let column = 0;
  for (let from = 0; from < x.length; column++) {
    // Advances by at least a column each time, whatever x is, so that there are never more than asked for.
    if (width > 0) column = Math.max(column, Math.floor((x[from]! - first) / width));
    const end = column >= columns - 1 ? x.length : lowerBound(x, x.length, first + (column + 1) * width, from + 1);
    const [low, high] = extremes(y, from, end);
    kept[count++] = Math.min(low, high);
    if (low !== high) kept[count++] = Math.max(low, high);
    from = end;
  }
  return count;
}

/** The first index from `from` on whose value is at least `bound`, among the first `length` values of an ascending array. */
export function lowerBound(values: Float64Array, length: number, bound: number, from = 0): number {
  let low = from;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first index whose value is above `bound`. */
export function upperBound(values: Float64Array, length: number, bound: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Indices of the lowest and highest value in `[from, end)`, gaps left out; `from` twice when all are gaps. */
export function extremes(y: Float64Array, from: number, end: number): [low: number, high: number] {
  let low = from;
  let high = from;
  for (let index = from + 1; index < end; index++) {
    const value = y[index]!;
    if (value < y[low]! || Number.isNaN(y[low])) low = Number.isNaN(value) ? low : index;
    if (value > y[high]! || Number.isNaN(y[high])) high = Number.isNaN(value) ? high : index;
  }
  return [low, high];
}

/** Limit on the number of values in a sparkline. */
const SPARK_VALUES = 32;

/**
 * Reduces a series to at most `SPARK_VALUES` means of equal stretches, oldest first, for transmission and small charts. A stretch
 * without a finite value gives null.
 */
export function spark(values: Float64Array): (number | null)[] {
  const count = Math.min(SPARK_VALUES, values.length);
  return Array.from({ length: count }, (_, index) =>
    finiteMean(
      values.subarray(Math.floor((index * values.length) / count), Math.floor(((index + 1) * values.length) / count)),
    ),
  );
}

function finiteMean(values: Float64Array): number | null {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    sum += value;
    count += 1;
  }
  return count === 0 ? null : sum / count;
}

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

/** Says that a metric with numbers has NaN between them; null: it has none, or no number. */
export function nanWords(name: string, { y }: Line): string | null {
  const count = y.reduce((sum, value) => sum + Number(Number.isNaN(value)), 0);
  return count === 0 || count === y.length ? null : `NaN in ${count} of ${y.length} points of ${name}`;
}
