import type { Spread } from '../../state/chart-choice.js';
import type { Series } from '../../state/port.js';
import { gridOf, onGrid } from './chart-grid.js';
import type { Scale } from './chart-scale.js';
import { centreOf } from './chart-statistics.js';

/** Some runs drawn as one: a line with a band around it, on a common grid. */
export type Aggregate = {
  readonly line: Series;
  /** NaN where fewer than two runs are. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Runs that have a value in each cell of the grid: they may end, and begin, at different x. */
  readonly counts: Uint16Array;
};

/**
 * The seeds of one setting in one line and a band. Each run counts within its own range and nowhere else, so the line may
 * step where a run ends; `counts` tells of how many it speaks.
 *
 * @param members Their x must rise.
 */
export function aggregate(
  members: readonly Series[],
  x: Scale,
  cells: number,
  spread: Exclude<Spread, 'each'>,
): Aggregate {
  const grids = members.map((member) => onGrid(member, x, cells));
  const line = { x: gridOf(x, cells), y: new Float64Array(cells) };
  const [low, high, counts] = [new Float64Array(cells), new Float64Array(cells), new Uint16Array(cells)];
  for (let cell = 0; cell < cells; cell++) {
    const values = grids.map((grid) => grid[cell]!).filter(Number.isFinite);
    const none = { middle: Number.NaN, low: Number.NaN, high: Number.NaN };
    const centre = values.length === 0 ? none : centreOf(values, spread);
    line.y[cell] = centre.middle;
    low[cell] = centre.low;
    high[cell] = centre.high;
    counts[cell] = values.length;
  }
  return { line, low, high, counts };
}
