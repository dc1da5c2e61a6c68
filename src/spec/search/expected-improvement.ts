import { normalDensity, normalProbability, normalQuantile } from '../../base/special-functions.js';
import { dimensionProblem, unitPoints } from '../expand/sampling/unit-points.js';
import { GaussianProcess, type Point, type Prediction, type Samples } from './gaussian-process.js';

/** The observations of a search: values, to be minimized, at points of the unit cube, and points without a value yet. */
export type Observations = Samples & { readonly pending: readonly Point[] };

/** The space that a search explores. */
type SearchSpace = {
  /** Names of the axes. */
  readonly dimensions: readonly string[];
  /** Rounds a point to the place of the value drawn there, as a listed value fills a whole interval. */
  readonly placeOf: (point: Point) => Point;
};

/** Limit on the samples of the process: half of them the best, the others the latest. */
const MOST_SAMPLES = 100;
/** Number of random points, of which the best ones start a climb. */
const CANDIDATES = 1000;
const CLIMBS = 5;
/** Number of points tried in a climb, the standard deviation of its first steps, and that at which it ends. */
const STEPS = 80;
const FIRST_DEVIATION = 0.1;
const LEAST_DEVIATION = 1e-4;
/** Number of points between two pauses. */
const AT_ONCE = 40;
/** Least distance of two points that run at the same time, unless there is no other point. */
const LEAST_APART = 0.01;
/** Number of runs, besides one for each dimension, that cover the cube before their values count. */
const FILLING = 3;
/**
 * In every other round an improvement must be at least this large, in standard deviations of all values, or all points would be
 * near the best.
 */
const WORTHWHILE = 0.02;

/**
 * Points of the unit cube, sorted by expected improvement on the best value so far: the first is the next point of a Bayesian
 * search. While there are too few runs for the dimensions, points that cover the cube. A point without a value yet counts as if it
 * had the mean that the process predicts (Ginsbourger, Le Riche and Carraro, 2010). Pauses every few milliseconds.
 *
 * @param seed Determines all candidates.
 */
export function* rankedPoints(
  { points, values, pending }: Observations,
  { dimensions, placeOf }: SearchSpace,
  seed: string,
): Generator<void, Point[]> {
  const round = points.length + pending.length;
  const open = pending.filter((point) => point.every(Number.isFinite));
  const isApart = (point: Point) => !open.some((other) => distance(placeOf(point), other) < LEAST_APART);
  const isFinite = points.map((point, index) => [...point, values[index]!].every(Number.isFinite));
  const observed = points.filter((_, index) => isFinite[index]);
  if (observed.length < 2 || observed.length + open.length < dimensions.length + FILLING) {
    const filling = yield* drawn(dimensions, { purpose: seed, from: round, count: CANDIDATES });
    return [...filling.filter(isApart), ...filling];
  }
  const samples = someOf({ points: observed, values: values.filter((_, index) => isFinite[index]) });
  let process = yield* GaussianProcess.fit({ points: samples.points, values: standardized(samples.values) });
  for (const point of open.slice(0, MOST_SAMPLES)) process = process.with(point, process.at(point).mean);
  yield;
  const least = Math.min(...process.samples.points.map((point) => process.at(point).mean));
  const best = least - (open.length === 0 && round % 2 === 1 ? WORTHWHILE : 0);
  const scoreOf = (point: Point) =>
    isApart(point) ? logExpectedImprovement(process.at(placeOf(point)), best) : -Infinity;
  const candidates = yield* drawn(dimensions, { purpose: `${seed}/${round}`, from: 0, count: CANDIDATES });
  const steps = yield* drawn(dimensions, { purpose: `${seed}/steps`, from: 0, count: STEPS });
  return yield* climbed(candidates, { scoreOf, starts: bestOf(samples), steps });
}

type Drawing = { purpose: string; from: number; count: number };

/** The next points of a sequence that covers the unit cube evenly. */
function* drawn(dimensions: readonly string[], { purpose, from, count }: Drawing): Generator<void, Point[]> {
  const kind = dimensionProblem('sobol', dimensions.length) === null ? 'sobol' : 'random';
  const names = dimensions.map((name) => `${purpose}/${name}`);
  const at = unitPoints(kind, 0, { dimensions: names, count: from + count });
  const points: Point[] = [];
  for (let index = from; index < from + count; index += 1) {
    if (index % AT_ONCE === 0) yield;
    points.push(dimensions.map((_, dimension) => at(index, dimension)));
  }
  return points;
}

type Scored = { point: Point; score: number };
type Climb = { scoreOf: (point: Point) => number; starts: readonly Point[]; steps: readonly Point[] };

/** The candidates by their scores, preceded by the local maxima reached from the best of them and from `starts`. */
function* climbed(candidates: readonly Point[], climb: Climb): Generator<void, Point[]> {
  const scored: Scored[] = [];
  for (const [index, point] of candidates.entries()) {
    if (index % AT_ONCE === 0) yield;
    scored.push({ point, score: climb.scoreOf(point) });
  }
  const ranked = [...scored].sort(byScore);
  const starts = climb.starts.map((point) => ({ point, score: climb.scoreOf(point) }));
  const tops: Scored[] = [];
  for (const start of [...ranked.slice(0, CLIMBS), ...starts]) tops.push(yield* topFrom(start, climb));
  return [...tops.sort(byScore), ...ranked].map(({ point }) => point);
}

function byScore(a: Scored, b: Scored): number {
  return a.score === b.score ? 0 : b.score - a.score;
}

/** Tries points around the best one so far, in all axes and in one axis in turns; the steps shrink after each failure. */
function* topFrom(start: Scored, { scoreOf, steps }: Climb): Generator<void, Scored> {
  let best = start;
  let deviation = FIRST_DEVIATION;
  for (const [index, step] of steps.entries()) {
    if (index % AT_ONCE === 0) yield;
    if (deviation < LEAST_DEVIATION) break;
    const axis = index % 2 === 0 ? null : ((index - 1) / 2) % start.point.length;
    const point = best.point.map((at, each) =>
      axis === null || axis === each ? within(at + deviation * normalQuantile(step[each]!), step[each]!) : at,
    );
    const score = scoreOf(point);
    if (score > best.score) best = { point, score };
    deviation *= score >= best.score ? 1.5 : 0.88;
  }
  return best;
}

/** Clips a coordinate to the cube; points lie inside it. */
function within(at: number, spare: number): number {
  const margin = 1e-9 * (1 + spare);
  return Math.min(1 - margin, Math.max(margin, at));
}

/** The point of the best value, moved slightly inside the interval whose upper end it is. */
function bestOf({ points, values }: Samples): Point[] {
  const point = points[values.indexOf(Math.min(...values))]!;
  return [point.map((at) => Math.min(1 - 1e-9, Math.max(1e-9, at - 1e-9)))];
}

/**
 * The logarithm of the expected improvement: by how much a value is expected to be below the best so far, 0 if above (Jones,
 * Schonlau and Welch, 1998). Far from the best, the improvement itself is too small to be compared (Ament and others, 2023).
 */
export function logExpectedImprovement({ mean, deviation }: Prediction, best: number): number {
  const z = (best - mean) / deviation;
  if (z > FAR) return Math.log(deviation) + Math.log(normalDensity(z) + z * normalProbability(z));
  // φ(z) + z Φ(z) = φ(z) / z² · (1 - 3 / z² + 15 / z⁴ - …)
  const rest = 1 / (z * z);
  return (
    Math.log(deviation) -
    (z * z) / 2 -
    Math.log(2 * Math.PI) / 2 +
    Math.log(rest) +
    Math.log1p(15 * rest * rest - 3 * rest)
  );
}

/** Below this z the difference of nearly equal numbers loses too many digits. */
const FAR = -8;

function distance(a: Point, b: Point): number {
  return Math.sqrt(a.reduce((sum, at, index) => sum + (at - b[index]!) ** 2, 0));
}

/** The best half, and the latest of the others, of many samples. */
function someOf({ points, values }: Samples): Samples {
  if (points.length <= MOST_SAMPLES) return { points, values };
  const order = values.map((_, index) => index).sort((a, b) => values[a]! - values[b]!);
  const best = new Set(order.slice(0, MOST_SAMPLES / 2));
  const latest = values.map((_, index) => index).filter((index) => !best.has(index));
  const kept = [...best, ...latest.slice(-MOST_SAMPLES / 2)].sort((a, b) => a - b);
  return { points: kept.map((index) => points[index]!), values: kept.map((index) => values[index]!) };
}

/**
 * Values with mean 0 and standard deviation 1. Values far above the median are cut off, as the size of a bad value carries no
 * information, and one diverged run would make all others look equal.
 */
export function standardized(values: readonly number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b);
  const least = sorted[0]!;
  const middle = [0.5, 0.75, 0.9]
    .map((share) => sorted[Math.floor(share * sorted.length)]!)
    .find((each) => each > least);
  // Halved, so that no difference of two numbers overflows.
  const most = middle === undefined ? Infinity : middle + 4 * (middle / 2 - least / 2);
  const near = values.map((value) => Math.min(value, most));
  const largest = Math.max(1, ...near.map(Math.abs));
  const small = near.map((value) => value / largest);
  const mean = small.reduce((sum, value) => sum + value, 0) / small.length;
  const deviation = Math.sqrt(small.reduce((sum, value) => sum + (value - mean) ** 2, 0) / small.length);
  return small.map((value) => (deviation === 0 ? 0 : (value - mean) / deviation));
}
