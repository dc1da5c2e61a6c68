import type { BoundedSeries } from './bounded-series.js';
import { type Line, lowerBound } from './downsample.js';
import { type Filing, wallTime } from './filing.js';

/** The first row with this step or a later one. Steps ascend. Between thinned points the row is interpolated. */
export function rowOfStep(steps: BoundedSeries, step: number): number {
  const index = lowerBound(steps.values, steps.length, step);
  const next = steps.rows[index]!;
  if (index === 0) return steps.isExact ? next : 0;
  const before = steps.rows[index - 1]!;
  const share = (step - steps.values[index - 1]!) / (steps.values[index]! - steps.values[index - 1]!);
  return Math.max(before + 1, Math.round(before + share * (next - before)));
}

/** The x of each point of `ys`, by row. Returns the array itself, not a copy, when both have the same rows. */
export function xOf(ys: BoundedSeries, xs: BoundedSeries): Float64Array {
  if (haveSameRows(ys, xs)) return xs.values.subarray(0, xs.length);
  const x = new Float64Array(ys.length);
  for (let index = 0, near = 0; index < ys.length; index++) {
    const row = ys.rows[index]!;
    while (near + 1 < xs.length && xs.rows[near + 1]! <= row) near += 1;
    x[index] = xAt(xs, near, row);
  }
  return x;
}

function haveSameRows(ys: BoundedSeries, xs: BoundedSeries): boolean {
  const count = ys.length;
  if (count !== xs.length || !ys.isExact || !xs.isExact) return false;
  const isDense = ys.rows[count - 1]! - ys.rows[0]! === count - 1;
  return isDense && xs.rows[0] === ys.rows[0] && xs.rows[count - 1] === ys.rows[count - 1];
}

/**
 * The x of a row, interpolated. `near`: the last point at or before the row, or the first. Beyond either end the nearest x is used.
 */
function xAt(xs: BoundedSeries, near: number, row: number): number {
  const from = xs.rows[near]!;
  const value = xs.values[near]!;
  if (row <= from || near + 1 >= xs.length) return value;
  const share = (row - from) / (xs.rows[near + 1]! - from);
  return value + share * (xs.values[near + 1]! - value);
}

/**
 * A line over `wallTime` on an axis of another source: each value is placed where that source was at the time. The same object for
 * the same line. @param xKey As in `Filing.series`. Null: the source has no times, or not that axis.
 */
export function placedByTime(line: Line, source: Filing, xKey: string): Line | null {
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

/** The line's y at each of these x: linear between its points, constant beyond them. */
export function interpolated(x: Float64Array, line: Line): Float64Array {
  return x.map((value) => {
    const after = lowerBound(line.x, line.x.length, value);
    if (after === 0) return line.y[0]!;
    if (after === line.x.length) return line.y[after - 1]!;
    const [from, to] = [line.x[after - 1]!, line.x[after]!];
    return line.y[after - 1]! + ((value - from) / (to - from)) * (line.y[after]! - line.y[after - 1]!);
  });
}
