import { grouped } from '../base/group-by.js';
import type { MemoryRow } from './memory-summary.js';

/** How the episodes to memorise grow with N, for one condition of one group. */
export type Scaling = {
  group: string;
  condition: string;
  bins: number | null;
  extra: Record<string, unknown>;
  law: PowerLaw;
  /** Sizes left out because half of their seeds or more did not memorise. */
  leftOut: number[];
};

/**
 * Fits episodes ∝ N^slope through the medians over all seeds, for each condition seen at two or more N.
 * A size whose median is infinite cannot be fitted, and is named: without it the slope is too kind.
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
    return [{ group, condition, bins, extra, law, leftOut }];
  });
}

type Point = { x: number; y: number };

/** `y ≈ factor · x^slope`, least squares on the logarithms. `r2` is 1 when the points lie on the line. */
type PowerLaw = { slope: number; factor: number; r2: number; points: number };

/** Null with fewer than two different x. Points must be positive; others are left out. */
export function fitPowerLaw(points: readonly Point[]): PowerLaw | null {
  const logs = points
    .filter(({ x, y }) => x > 0 && y > 0 && Number.isFinite(y))
    .map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const meanX = meanOf(logs.map(({ x }) => x));
  const meanY = meanOf(logs.map(({ y }) => y));
  const xx = sum(logs.map(({ x }) => (x - meanX) ** 2));
  if (logs.length < 2 || xx === 0) return null;
  const xy = sum(logs.map(({ x, y }) => (x - meanX) * (y - meanY)));
  const yy = sum(logs.map(({ y }) => (y - meanY) ** 2));
  const slope = xy / xx;
  // A flat line explains flat points wholly.
  const r2 = yy === 0 ? 1 : (xy * xy) / (xx * yy);
  return { slope, factor: Math.exp(meanY - slope * meanX), r2, points: logs.length };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function meanOf(values: readonly number[]): number {
  return sum(values) / values.length;
}
