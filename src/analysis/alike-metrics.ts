import { quantile } from './statistics.js';

/** A curve of one run: x, and y at it. */
type CurvePoints = { readonly x: ArrayLike<number>; readonly y: ArrayLike<number> };

/** Number of points of a curve that are compared, evenly spread over it. */
const MOST_POINTS = 64;
/** Only the newest points of a longer curve are compared: older ones are thinned, and each metric keeps different ones. */
const EXACT_POINTS = 8192;
/** Below so many points, two curves look alike by chance. */
const LEAST_POINTS = 8;
/**
 * Two curves are alike where their largest distance is below this share of the range, and the median distance below the same share
 * of the range of the middle 80 %.
 */
const NEAR = 0.01;
/** Least correlation of two curves that are alike: they move the same way. */
const LEAST_CORRELATION = 0.999;

/**
 * Finds the metrics that show the same: those that differ nowhere by more than a percent of their range, and those that do so after
 * a linear transformation in the same direction (steps and samples, but not a reward and the entropy that falls as it rises). Maps each metric to the first one that it is like:
 * itself, where no earlier one is.
 *
 * @param metrics In the order in which they are shown.
 * @param curvesOf Gives one curve of a metric for each run, always in the same order of runs.
 * @param kindOf Metrics of two kinds are never alike.
 */
export function alikeMetrics(
  metrics: readonly string[],
  curvesOf: (metric: string) => readonly CurvePoints[],
  kindOf: (metric: string) => unknown = () => 0,
): ReadonlyMap<string, string> {
  const firsts = new Map<string, Shape[]>();
  const found = new Map<string, string>();
  for (const metric of metrics) {
    const shape = shapeOf(metric, curvesOf(metric));
    const key = JSON.stringify([kindOf(metric), shape.at]);
    const others = firsts.get(key) ?? [];
    const like = others.find((other) => isAlike(other, shape));
    if (like === undefined) firsts.set(key, [...others, shape]);
    found.set(metric, like?.metric ?? metric);
  }
  return found;
}

/**
 * The points of a metric that are compared. `at`: their places, and which of them have no value; `unit`: the values by `unitOf`.
 */
type Shape = {
  readonly metric: string;
  readonly at: string;
  readonly values: Float64Array;
  readonly unit: Float64Array;
};

function shapeOf(metric: string, curves: readonly CurvePoints[]): Shape {
  const all: number[] = [];
  const at = curves.map(({ x, y }) => {
    const positions = positionsIn(y.length);
    const values = positions.map((position) => y[position]!);
    all.push(...values.filter(Number.isFinite));
    return positions.map((position, index) => [
      x[position]!,
      Number.isFinite(values[index]) ? 0 : String(values[index]),
    ]);
  });
  const values = Float64Array.from(all);
  return { metric, at: JSON.stringify(at), values, unit: unitOf(values) };
}

/** Indices spread evenly over the curve, both ends included. */
function positionsIn(length: number): number[] {
  const first = length > 2 * EXACT_POINTS ? length - EXACT_POINTS : 0;
  const count = Math.min(MOST_POINTS, length - first);
  if (count < 2) return count === 1 ? [first] : [];
  return Array.from({ length: count }, (_, index) => first + Math.round((index * (length - 1 - first)) / (count - 1)));
}

/**
 * The values without their mean, scaled to length 1; all 0 where they are constant. The largest is divided out first, as a square
 * of 1e200 is infinite.
 */
function unitOf(values: Float64Array): Float64Array {
  const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const mean = values.reduce((sum, value) => sum + value / size / values.length, 0);
  const moved = values.map((value) => value / size - mean);
  const length = Math.sqrt(moved.reduce((sum, value) => sum + value * value, 0));
  return length > 1e-12 ? moved.map((value) => value / length) : moved.fill(0);
}

function isAlike(one: Shape, other: Shape): boolean {
  if (one.values.length === 0) return false;
  const correlation = one.unit.reduce((sum, value, index) => sum + value * other.unit[index]!, 0);
  if (correlation === 0) return one.values.every((value, index) => value === other.values[index]);
  if (one.values.length < LEAST_POINTS || correlation < LEAST_CORRELATION) return false;
  const off = other.unit.map((value, index) => Math.abs(value - correlation * one.unit[index]!)).sort();
  const sorted = other.unit.toSorted();
  const [range, most] = [sorted.at(-1)! - sorted[0]!, quantile(sorted, 0.9) - quantile(sorted, 0.1)];
  return off.at(-1)! <= NEAR * range && quantile(off, 0.5) <= NEAR * most;
}
