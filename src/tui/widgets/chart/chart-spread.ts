import { centreOf, type SeedSummary } from '../../../analysis/seed-statistics.js';
import type { Series } from '../../state/port.js';
import { gridOf, onGrid } from './chart-grid.js';
import type { Scale } from './axes/chart-scale.js';

/** One of the runs that are drawn as one. `isCarried`: its last value counts on where it has ended and others have not. */
export type Member = { readonly series: Series; readonly isCarried: boolean };

/** Some runs drawn as one: a line with a band around it, on a common grid. */
export type Aggregate = {
  readonly line: Series;
  /** NaN where fewer than two runs are. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Runs that have a value of their own in each cell of the grid: they may end, and begin, at different x. */
  readonly counts: Uint16Array;
  /** Runs that have ended before and are in the line with their last value. */
  readonly carried: Uint16Array;
};

/**
 * The seeds of one setting in one line and a band. Each run counts within its own range; behind its end only if it is
 * carried, and only for as long as another has values of its own. A run that ended with a value that is no number has
 * nothing to carry.
 *
 * @param members Their x must rise.
 */
export function aggregate(members: readonly Member[], x: Scale, cells: number, summary: SeedSummary): Aggregate {
  const grids = members.map(({ series }) => onGrid(series, x, cells));
  const ends = members.map(endOf);
  const line = { x: gridOf(x, cells), y: new Float64Array(cells) };
  const [low, high] = [new Float64Array(cells), new Float64Array(cells)];
  const [counts, carried] = [new Uint16Array(cells), new Uint16Array(cells)];
  for (let cell = 0; cell < cells; cell++) {
    const values = grids.map((grid) => grid[cell]!).filter(Number.isFinite);
    counts[cell] = values.length;
    if (values.length > 0 && values.length < members.length) {
      const at = line.x[cell]!;
      for (const [index, end] of ends.entries()) {
        if (end !== null && at > end.x && Number.isNaN(grids[index]![cell])) values.push(end.y);
      }
      carried[cell] = values.length - counts[cell]!;
    }
    const centre = centreOf(values, summary);
    line.y[cell] = centre.middle;
    low[cell] = centre.low;
    high[cell] = centre.high;
  }
  return { line, low, high, counts, carried };
}

/** Where a run that is carried has ended, and with what; null: it is not carried, or has nothing to be carried with. */
function endOf({ series: { x, y }, isCarried }: Member): { x: number; y: number } | null {
  const last = y.length - 1;
  return isCarried && last >= 0 && Number.isFinite(y[last]) ? { x: x[last]!, y: y[last]! } : null;
}
