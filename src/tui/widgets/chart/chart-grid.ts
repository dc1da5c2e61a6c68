import type { Series } from '../../state/port.js';
import { Memo } from '../../../base/memo.js';
import { type Scale, valueAt, fractionOf } from './axes/chart-scale.js';
import { lowerBound } from './chart-thin.js';

/**
 * The values of a run on a grid of equal cells of the x axis, to be set beside those of other runs.
 *
 * A cell with points has their mean. A cell between two points has the value of the straight line between them at its
 * middle. NaN outside of the run's own range, and in its gaps: nothing is carried on beyond what was measured.
 *
 * @param series Its x must rise.
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

/** The upper end of the axis itself belongs to the last cell. */
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

/** On the line, as it is drawn on this axis, from the point before `next` to the one there. */
function between({ x, y }: Series, scale: Scale, next: number, fraction: number): number {
  if (next === 0 || next >= x.length) return Number.NaN;
  const from = fractionOf(scale, x[next - 1]!);
  const to = fractionOf(scale, x[next]!);
  // A point that a logarithmic axis has no place for is no neighbour.
  if (!(to > from)) return Number.NaN;
  return y[next - 1]! + ((y[next]! - y[next - 1]!) * (fraction - from)) / (to - from);
}
