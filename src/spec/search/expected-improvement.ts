import { normalDensity, normalProbability, normalQuantile } from '../expand/sampling/special-functions.js';
import { dimensionProblem, unitPoints } from '../expand/sampling/unit-points.js';
import { GaussianProcess, type Point, type Prediction, type Samples } from './gaussian-process.js';

/** What a search knows: values to be small at points of the unit cube, and the points whose values are still to come. */
export type Observations = Samples & { readonly pending: readonly Point[] };

/** Where a search looks. */
export type SearchSpace = {
  /** Names of the axes. */
  readonly dimensions: readonly string[];
  /** Where what is drawn at a point is found in the unit cube: a point stands for a whole interval where values are listed. */
  readonly placeOf: (point: Point) => Point;
};

/** The process sees no more samples: half of them the best, the others the latest. */
const MOST_SAMPLES = 100;
/** Points of the unit cube of which the best ones are the beginning of a climb. */
const CANDIDATES = 1000;
const CLIMBS = 5;
/** Points that are looked at in a climb, the deviation of its first steps, and that at which it ends. */
const STEPS = 80;
const FIRST_DEVIATION = 0.1;
const LEAST_DEVIATION = 1e-4;
/** Looked at between two pauses. */
const AT_ONCE = 40;
/** Two points that run at once are no nearer to each other, as long as there are others. */
const LEAST_APART = 0.01;
/** Runs, besides one for each dimension, that fill the cube before their values are looked at. */
const FILLING = 3;
/** What an improvement is worth while in every other round, in deviations of all values: else all go to where the best is. */
const WORTHWHILE = 0.02;

/**
 * Points of the unit cube, those first at which the value is expected to improve most on the best so far: the next point of a
 * Bayesian search is the first. While there are few runs for the dimensions, those that fill the cube. Points whose values
 * are still to come count as if they had given what the process expects of them (Ginsbourger, Le Riche and Carraro, 2010).
 * Pauses every few milliseconds.
 *
 * @param seed What all candidates follow from.
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

/** So many points of a sequence that fills the unit cube evenly. */
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

/** The candidates by their scores, behind the tops that are reached from the best of them and from `starts`. */
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

/** Tries points around the best so far, in all axes and in one by turns; nearer ones after each that is no better. */
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

/** A step out of the cube is one to the border; points lie within. */
function within(at: number, spare: number): number {
  const margin = 1e-9 * (1 + spare);
  return Math.min(1 - margin, Math.max(margin, at));
}

/** Where the best value was observed, just within the interval that its place is the upper end of. */
function bestOf({ points, values }: Samples): Point[] {
  const point = points[values.indexOf(Math.min(...values))]!;
  return [point.map((at) => Math.min(1 - 1e-9, Math.max(1e-9, at - 1e-9)))];
}

/**
 * The logarithm of how much a value is expected to be below the best so far, where it is not above (Jones, Schonlau and
 * Welch, 1998): far off, the improvement itself is too small a number to compare (Ament and others, 2023).
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

/** From here on differences of nearly equal numbers have too few digits. */
const FAR = -8;

function distance(a: Point, b: Point): number {
  return Math.sqrt(a.reduce((sum, at, index) => sum + (at - b[index]!) ** 2, 0));
}

/** Of many samples the best half, and the latest of the others. */
function someOf({ points, values }: Samples): Samples {
  if (points.length <= MOST_SAMPLES) return { points, values };
  const order = values.map((_, index) => index).sort((a, b) => values[a]! - values[b]!);
  const best = new Set(order.slice(0, MOST_SAMPLES / 2));
  const latest = values.map((_, index) => index).filter((index) => !best.has(index));
  const kept = [...best, ...latest.slice(-MOST_SAMPLES / 2)].sort((a, b) => a - b);
  return { points: kept.map((index) => points[index]!), values: kept.map((index) => values[index]!) };
}

/**
 * Values of mean 0 and deviation 1. How bad a bad value is tells a search nothing, and one run that diverges would make all
 * others look the same: what is far above the middle is brought down.
 */
export function standardized(values: readonly number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b);
  const least = sorted[0]!;
  const middle = [0.5, 0.75, 0.9]
    .map((share) => sorted[Math.floor(share * sorted.length)]!)
    .find((each) => each > least);
  // Halves, so that no difference of two numbers overflows.
  const most = middle === undefined ? Infinity : middle + 4 * (middle / 2 - least / 2);
  const near = values.map((value) => Math.min(value, most));
  const largest = Math.max(1, ...near.map(Math.abs));
  const small = near.map((value) => value / largest);
  const mean = small.reduce((sum, value) => sum + value, 0) / small.length;
  const deviation = Math.sqrt(small.reduce((sum, value) => sum + (value - mean) ** 2, 0) / small.length);
  return small.map((value) => (deviation === 0 ? 0 : (value - mean) / deviation));
}
