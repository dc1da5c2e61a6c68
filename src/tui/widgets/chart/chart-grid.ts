import type { Series } from '../../state/port.js';
import { Memo } from '../../../base/memo.js';
import { type Scale, valueAt, fractionOf } from './axes/chart-scale.js';
import { lowerBound } from './chart-thin.js';

/**
 * Resamples a run to a grid of equal cells of the x axis, for combining it with other runs.
 *
 * A cell with points gets their mean. A cell between two points gets the value of the straight line at its middle. Cells outside
 * the run's own range and in gaps are NaN: nothing is extrapolated.
 *
 * @param series Its x must be increasing.
 */
export function onGrid(series: Series, x: Scale, cells: number): Float64Array {
  return grids.value(series, `${x.low} ${x.high} ${x.isLog} ${cells}`, () => gridded(series, x, cells));
}

/** The x at the middle of each cell. */
export function gridOf(x: Scale, cells: number): Float64Array {
  return Float64Array.from({ length: cells }, (_, cell) => valueAt(x, (cell + 0.5) / cells));
}

const grids = new Memo<Series, Float64Array>(2);

function gridded(series: Series, x: Scale, cells: number): Float64Array {
  const values = new Float64Array(cells);
  let from = lowerBound(series.x, x.low, 0);
  for (let cell = 0; cell < cells; cell++) {
    const end = endOfCell(series.x, x, (cell + 1) / cells, from);
    values[cell] = end > from ? meanOf(series.y, from, end) : between(series, x, from, (cell + 0.5) / cells);
    from = end;
  }
  return values;
}

/** The end of a cell in the series. The upper end of the axis belongs to the last cell. */
function endOfCell(x: Float64Array, scale: Scale, fraction: number, from: number): number {
  if (fraction < 1) return lowerBound(x, valueAt(scale, fraction), from);
  let end = lowerBound(x, scale.high, from);
  while (end < x.length && x[end]! <= scale.high) end++;
  return end;
}

function meanOf(y: Float64Array, from: number, end: number): number {
  let [sum, count] = [0, 0];
  for (let index = from; index < end; index++) {
    const value = y[index]!;
    if (value - value !== 0) continue;
    sum += value;
    count++;
  }
  return sum / count;
}

/** Interpolates between point `next` and the one before it, along the straight line on this axis. */
function between({ x, y }: Series, scale: Scale, next: number, fraction: number): number {
  if (next === 0 || next >= x.length) return Number.NaN;
  const from = fractionOf(scale, x[next - 1]!);
  const to = fractionOf(scale, x[next]!);
  // A point that a logarithmic axis leaves out cannot be interpolated from.
  if (!(to > from)) return Number.NaN;
  return y[next - 1]! + ((y[next]! - y[next - 1]!) * (fraction - from)) / (to - from);
}
