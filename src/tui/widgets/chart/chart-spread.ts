import { centreOf, type SeedSummary } from '../../../analysis/seed-statistics.js';
import type { Series } from '../../state/port.js';
import { gridOf, onGrid } from './chart-grid.js';
import type { Scale } from './axes/chart-scale.js';

/** One of the runs that are drawn as one. `isCarried`: its final value continues to count after it has ended. */
export type Member = { readonly series: Series; readonly isCarried: boolean };

/** Some runs drawn as one: a line with a band around it, on a common grid. */
export type Aggregate = {
  readonly line: Series;
  /** NaN where there are fewer than two runs. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Number of runs with a value of their own in each cell; runs may begin and end at different x. */
  readonly counts: Uint16Array;
  /** Number of ended runs that contribute their final value. */
  readonly carried: Uint16Array;
};

/**
 * Combines the seeds of one setting into a line and a band. Each run counts within its own range, and beyond its end only if it is
 * carried and while another run has values of its own. A run whose final value is not finite is not carried.
 *
 * @param members Their x must be increasing.
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

/** The final point of a carried run; null: it is not carried or has no finite final value. */
function endOf({ series: { x, y }, isCarried }: Member): { x: number; y: number } | null {
  const last = y.length - 1;
  return isCarried && last >= 0 && Number.isFinite(y[last]) ? { x: x[last]!, y: y[last]! } : null;
}
