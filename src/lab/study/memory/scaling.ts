import { grouped } from '../../../base/group-by.js';
import { drawClustered, type Interval, resampled95 } from '../../../analysis/bootstrap.js';
import type { MemoryRow } from './summary.js';
import { median } from '../../../analysis/statistics.js';

/** How the episodes to memorise grow with N, for one condition of one group. */
export type Scaling = {
  group: string;
  condition: string;
  bins: number | null;
  extra: Record<string, unknown>;
  law: PowerLaw;
  /** 95 % interval of the slope, by bootstrap over base models and the seeds on each; null: a size has fewer than three of them. */
  slope95: Interval | null;
  /**
   * Slopes of other learners over the same sizes, through their medians; null: a size has no reference, or most seeds
   * did not reach the goal.
   */
  idealSlope: number | null;
  tableSlope: number | null;
  /** Sizes left out because at least half of their seeds did not memorise. */
  leftOut: number[];
};

/**
 * Fits episodes ∝ N^slope through the medians over all seeds, for each condition with two or more N. A size whose median is
 * infinite cannot be fitted; it is listed, as the slope without it is too low.
 */
export function scalings(rows: readonly MemoryRow[]): Scaling[] {
  const families = grouped(rows, ({ group, condition, bins, extra }) =>
    JSON.stringify([group, condition, bins, extra]),
  );
  return families.flatMap((family) => {
    const ended = family.filter(({ medianOfAll }) => medianOfAll !== null);
    const law = fitPowerLaw(ended.map(({ N, medianOfAll }) => ({ x: N, y: medianOfAll! })));
    if (law === null) return [];
    const { group, condition, bins, extra } = family[0]!;
    const leftOut = ended.filter(({ medianOfAll }) => medianOfAll === Infinity).map(({ N }) => N);
    const others = {
      idealSlope: slopeOf(ended, ({ compared }) => compared?.ideal),
      tableSlope: slopeOf(ended, ({ compared }) => compared?.table),
    };
    return [{ group, condition, bins, extra, law, slope95: slopeInterval(ended), ...others, leftOut }];
  });
}

/** The slope through all sizes; null: a size has no value or an infinite one, without which the slope would be too low. */
function slopeOf(rows: readonly MemoryRow[], episodesOf: (row: MemoryRow) => number | null | undefined): number | null {
  const points = rows.map((row) => ({ x: row.N, y: episodesOf(row) ?? Infinity }));
  return points.every(({ y }) => Number.isFinite(y)) ? (fitPowerLaw(points)?.slope ?? null) : null;
}

/** A bootstrap over two seeds only shows their distance, and covers the true value too seldom. */
const LEAST_SEEDS = 3;

/**
 * Percentile bootstrap over base models, which the sizes share, then over the seeds on each within each size; the slope is fitted
 * through the medians as above. Seeds that did not memorise are drawn as infinite; a size whose
 * median becomes infinite is left out of that sample, and a sample with fewer than two sizes says nothing.
 */
function slopeInterval(rows: readonly MemoryRow[]): Interval | null {
  const sizes = rows.filter(({ judged }) => judged.length > 0);
  if (sizes.some(({ judged }) => judged.length < LEAST_SEEDS)) return null;
  const cells = sizes.map(({ judged }) => judged.map(({ base, took }) => ({ cluster: base, value: took })));
  return resampled95(sizes.length, (random) => {
    const drawn = drawClustered(cells, random);
    const points = sizes.map(({ N }, index) => ({ x: N, y: median(drawn[index]!)! }));
    return fitPowerLaw(points)?.slope ?? null;
  });
}

type Point = { x: number; y: number };

/** `y ≈ factor · x^slope`, least squares on the logarithms. `r2` is 1 when the points lie on the line. */
type PowerLaw = { slope: number; factor: number; r2: number; points: number };

/** Fits a power law; points that are not positive are left out. Null with fewer than two different x. */
export function fitPowerLaw(points: readonly Point[]): PowerLaw | null {
  const logs = points
    .filter(({ x, y }) => x > 0 && y > 0 && Number.isFinite(y))
    .map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const meanX = meanOf(logs.map(({ x }) => x));
  const meanY = meanOf(logs.map(({ y }) => y));
  const xx = sum(logs.map(({ x }) => (x - meanX) ** 2));
  // Rounding may move the mean of equal x, so the sum of squares alone does not detect them.
  if (new Set(logs.map(({ x }) => x)).size < 2) return null;
  const xy = sum(logs.map(({ x, y }) => (x - meanX) * (y - meanY)));
  const yy = sum(logs.map(({ y }) => (y - meanY) ** 2));
  const slope = xy / xx;
  // A flat line explains flat points completely.
  const r2 = yy === 0 ? 1 : (xy * xy) / (xx * yy);
  return { slope, factor: Math.exp(meanY - slope * meanX), r2, points: logs.length };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function meanOf(values: readonly number[]): number {
  return sum(values) / values.length;
}
