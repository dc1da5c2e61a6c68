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
