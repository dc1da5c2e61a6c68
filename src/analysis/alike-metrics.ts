import { quantile } from './statistics.js';

/** A curve of one run: x, and y at it. */
type CurvePoints = { readonly x: ArrayLike<number>; readonly y: ArrayLike<number> };

/** Points of a run that are compared: the whole of a curve shows in them. */
const MOST_POINTS = 64;
/** Of a longer curve the newest count: older ones are boiled down, and each metric keeps others of them. */
const EXACT_POINTS = 8192;
/** Below so many points, two curves look alike by chance. */
const LEAST_POINTS = 8;
/** How far the one may be from the other, scaled to it: of its range, and in the middle of all points of where most of it lies. */
const NEAR = 0.01;
/** Below this correlation it is further. */
const LEAST_CORRELATION = 0.999;

/**
 * Which metrics show the same: those that are nowhere a percent of their range apart, and those that are once one of them is
 * multiplied and moved (an error and its accuracy; steps and samples). Of each the first one that it is like, itself where there
 * is none before it.
 *
 * @param metrics In the order in which they are shown.
 * @param curvesOf Of a metric one curve for each run, in the same order.
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

/** The points of a metric that are compared. `at`: where they are, and where they are no number; `unit`: without its mean, of length 1. */
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

/** Evenly over the curve, both ends among them. */
function positionsIn(length: number): number[] {
  const first = length > 2 * EXACT_POINTS ? length - EXACT_POINTS : 0;
  const count = Math.min(MOST_POINTS, length - first);
  if (count < 2) return count === 1 ? [first] : [];
  return Array.from({ length: count }, (_, index) => first + Math.round((index * (length - 1 - first)) / (count - 1)));
}

/** All 0 of what is constant. The largest size is taken out first: a square of 1e200 is infinite. */
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
  if (one.values.length < LEAST_POINTS || Math.abs(correlation) < LEAST_CORRELATION) return false;
  const off = other.unit.map((value, index) => Math.abs(value - correlation * one.unit[index]!)).sort();
  const sorted = other.unit.toSorted();
  const [range, most] = [sorted.at(-1)! - sorted[0]!, quantile(sorted, 0.9) - quantile(sorted, 0.1)];
  return off.at(-1)! <= NEAR * range && quantile(off, 0.5) <= NEAR * most;
}
