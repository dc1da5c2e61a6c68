/**
 * A Gaussian process over the unit cube, as W&B's search fits it: Matérn covariance with ν = 3/2, one length scale for all
 * dimensions (the one of the highest marginal likelihood), variance 1, and values brought to mean 0 and deviation 1.
 *
 * Rasmussen and Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1 and equation 4.17.
 */

/** A point of the unit cube. */
export type Point = readonly number[];

/** What is observed: a value at each point. */
export type Samples = { readonly points: readonly Point[]; readonly values: readonly number[] };

/** At a point, in units of the process: `(value - mean) / deviation` of what was observed. */
export type Prediction = { readonly mean: number; readonly deviation: number };

/** Added to each observation's variance, so that the matrix can be factored also where points coincide. */
const NUGGET = 1e-7;
/** Keeps the deviation of equal values above zero. */
const LEAST_DEVIATION = 1e-6;
/** Natural logarithms of the least and the greatest length scale. */
const shortest = Math.log(1e-5);
const longest = Math.log(1e5);

/** A process that has seen some samples. */
export class GaussianProcess {
  readonly #points: readonly Point[];
  /** Lower triangle of the Cholesky factor of the covariance, by rows. */
  readonly #factor: readonly Float64Array[];
  /** The inverse of the covariance times the values. */
  readonly #weights: Float64Array;
  readonly #length: number;
  readonly mean: number;
  readonly deviation: number;
  /** The likelihood is greatest at the end of the range of length scales: the samples do not say which one is right. */
  readonly isAtBound: boolean;

  private constructor({ points }: Samples, { scaled, mean, deviation }: Scaled, { length, isAtBound }: Fitted) {
    this.#points = points;
    this.#length = length;
    this.#factor = choleskyFactor(distances(points), length);
    this.#weights = backward(this.#factor, forward(this.#factor, scaled));
    this.mean = mean;
    this.deviation = deviation;
    this.isAtBound = isAtBound;
  }

  /** Pauses some forty times, after a matrix was factored each time. @param samples One at least. */
  static *fit(samples: Samples): Generator<void, GaussianProcess> {
    const scaled = standardized(samples.values);
    return new GaussianProcess(samples, scaled, yield* fittedLength(distances(samples.points), scaled.scaled));
  }

  at(point: Point): Prediction {
    const covariances = Float64Array.from(this.#points, (other) => matern(distance(point, other) / this.#length));
    const mean = covariances.reduce((sum, covariance, index) => sum + covariance * this.#weights[index]!, 0);
    const explained = forward(this.#factor, covariances).reduce((sum, part) => sum + part * part, 0);
    return { mean, deviation: Math.sqrt(Math.max(0, 1 - explained)) };
  }

  /** What the process expects to be observed at a point, in the units of the samples. */
  valueAt(point: Point): number {
    return this.at(point).mean * this.deviation + this.mean;
  }
}

type Scaled = { scaled: Float64Array; mean: number; deviation: number };

/** Values with mean 0 and deviation 1. The largest is brought to 1 first, so that no sum overflows. */
function standardized(values: readonly number[]): Scaled {
  const largest = Math.max(1, ...values.map(Math.abs));
  const small = values.map((value) => value / largest);
  const mean = sum(small) / small.length;
  const variance = sum(small.map((value) => (value - mean) ** 2)) / small.length;
  const deviation = values.length === 1 ? 1 : Math.sqrt(variance) + LEAST_DEVIATION / largest;
  const scaled = Float64Array.from(small, (value) => (value - mean) / deviation);
  return { scaled, mean: mean * largest, deviation: deviation * largest };
}

type Fitted = { length: number; isAtBound: boolean };

/** Between the length scales that are tried first, as logarithms. */
const STRIDE = 1;
/** Each narrows the place of the best one to the golden section of what it was. */
const ROUNDS = 16;

/** The length scale under which the samples are most likely; where several are as likely, the one nearest to 1. */
function* fittedLength(apart: readonly Float64Array[], values: Float64Array): Generator<void, Fitted> {
  const score = (log: number) => logLikelihood(choleskyFactor(apart, Math.exp(log)), values);
  let best = { log: 0, score: score(0) };
  for (const log of firstLogs) {
    yield;
    const found = { log, score: score(log) };
    if (found.score > best.score + EQUAL) best = found;
  }
  const span = { from: Math.max(shortest, best.log - STRIDE), to: Math.min(longest, best.log + STRIDE) };
  const log = yield* goldenSection(score, span);
  return { length: Math.exp(log), isAtBound: log - shortest < CLOSE || longest - log < CLOSE };
}

/** Likelihoods that differ by less are alike. */
const EQUAL = 1e-9;
/** Logarithms of length scales that differ by less are alike. */
const CLOSE = 2e-3;

/** Nearest to that of 1 first. */
const firstLogs = Array.from({ length: Math.ceil(longest / STRIDE) }, (_, index) => (index + 1) * STRIDE).flatMap(
  (log) => [Math.max(shortest, -log), Math.min(longest, log)],
);

/** Where a function that rises and then falls is highest. */
function* goldenSection(score: (x: number) => number, span: { from: number; to: number }): Generator<void, number> {
  const ratio = (Math.sqrt(5) - 1) / 2;
  let { from, to } = span;
  let [left, right] = [to - ratio * (to - from), from + ratio * (to - from)];
  let [atLeft, atRight] = [score(left), score(right)];
  for (let round = 0; round < ROUNDS; round += 1) {
    yield;
    if (atLeft >= atRight) {
      [to, right, atRight] = [right, left, atLeft];
      left = to - ratio * (to - from);
      atLeft = score(left);
    } else {
      [from, left, atLeft] = [left, right, atRight];
      right = from + ratio * (to - from);
      atRight = score(right);
    }
  }
  return (from + to) / 2;
}

/** Up to what does not depend on the length scale. -Infinity where the matrix cannot be factored. */
function logLikelihood(factor: readonly Float64Array[], values: Float64Array): number {
  const half = forward(factor, values);
  const fit = half.reduce((total, part) => total + part * part, 0) / 2;
  const size = factor.reduce((total, row, index) => total + Math.log(row[index]!), 0);
  const score = -fit - size;
  return Number.isNaN(score) ? -Infinity : score;
}

/** Matérn's correlation, ν = 3/2. @param r Distance in length scales. */
function matern(r: number): number {
  const scaled = Math.sqrt(3) * r;
  return (1 + scaled) * Math.exp(-scaled);
}

function distance(a: Point, b: Point): number {
  let squares = 0;
  for (let index = 0; index < a.length; index += 1) squares += (a[index]! - b[index]!) ** 2;
  return Math.sqrt(squares);
}

/** Of each point to those before it: the lower triangle, by rows, without the diagonal. */
function distances(points: readonly Point[]): Float64Array[] {
  return points.map((point, row) =>
    Float64Array.from({ length: row }, (_, column) => distance(point, points[column]!)),
  );
}

/** L of the covariance K = L Lᵀ, by rows. */
function choleskyFactor(apart: readonly Float64Array[], length: number): Float64Array[] {
  const factor: Float64Array[] = [];
  for (const [row, others] of apart.entries()) {
    const own = new Float64Array(row + 1);
    let rest = 1 + NUGGET;
    for (let column = 0; column < row; column += 1) {
      const above = factor[column]!;
      let value = matern(others[column]! / length);
      for (let index = 0; index < column; index += 1) value -= own[index]! * above[index]!;
      value /= above[column]!;
      own[column] = value;
      rest -= value * value;
    }
    own[row] = Math.sqrt(rest);
    factor.push(own);
  }
  return factor;
}

/** x of L x = b. */
function forward(factor: readonly Float64Array[], b: Float64Array): Float64Array {
  const x = new Float64Array(b.length);
  for (const [row, own] of factor.entries()) {
    let value = b[row]!;
    for (let column = 0; column < row; column += 1) value -= own[column]! * x[column]!;
    x[row] = value / own[row]!;
  }
  return x;
}

/** x of Lᵀ x = b. */
function backward(factor: readonly Float64Array[], b: Float64Array): Float64Array {
  const x = new Float64Array(b.length);
  for (let row = b.length - 1; row >= 0; row -= 1) {
    let value = b[row]!;
    for (let below = row + 1; below < b.length; below += 1) value -= factor[below]![row]! * x[below]!;
    x[row] = value / factor[row]![row]!;
  }
  return x;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
