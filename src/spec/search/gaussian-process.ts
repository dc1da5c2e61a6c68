/**
 * A Gaussian process over the unit cube: Matérn covariance with ν = 5/2 and variance 1, a length scale for each dimension, and
 * noise, all at their posterior mode given the samples and priors. The priors prevent overfitting to few samples: those of the
 * lengths grow with the number of dimensions (Hvarfner, Hellsten and Nardi, 2024).
 *
 * Rasmussen and Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1 and equations 4.17 and 5.9.
 */

/** A point of the unit cube. */
export type Point = readonly number[];

/** Observed values, one at each point. */
export type Samples = { readonly points: readonly Point[]; readonly values: readonly number[] };

/** The prediction at a point, in the units of the samples. */
export type Prediction = { readonly mean: number; readonly deviation: number };

/** Length scales and the variance of the noise, as natural logarithms. */
export type Scales = { readonly lengths: readonly number[]; readonly noise: number };

/** Rows of a lower triangular matrix. */
type Triangle = readonly Float64Array[];

/** Lower bound of the variance, which coinciding points would make 0. */
const LEAST_VARIANCE = 1e-12;

/** A process that is conditioned on some samples. */
export class GaussianProcess {
  readonly samples: Samples;
  readonly #scales: Scales;
  readonly #inverse: Float64Array;
  /** The Cholesky factor of the covariance of the samples. */
  readonly #factor: Triangle;
  /** The inverse of the covariance times the values. */
  readonly #weights: Float64Array;

  constructor(samples: Samples, scales: Scales, factor = choleskyFactor(samples.points, scales)) {
    this.samples = samples;
    this.#scales = scales;
    this.#inverse = inverseLengths(scales);
    this.#factor = factor;
    this.#weights = backward(factor, forward(factor, samples.values));
  }

  /** Fits the scales; pauses after each step. @param samples At least one, with mean 0 and standard deviation 1. */
  static *fit(samples: Samples): Generator<void, GaussianProcess> {
    return new GaussianProcess(samples, yield* fittedScales(samples));
  }

  /** The process with one more sample and the same scales. */
  with(point: Point, value: number): GaussianProcess {
    const { points, values } = this.samples;
    const covariances = this.#covariances(point);
    const row = new Float64Array(points.length + 1);
    row.set(forward(this.#factor, covariances));
    const explained = row.reduce((sum, part) => sum + part * part, 0);
    row[points.length] = Math.sqrt(Math.max(LEAST_VARIANCE, 1 + Math.exp(this.#scales.noise) - explained));
    const samples = { points: [...points, point], values: [...values, value] };
    return new GaussianProcess(samples, this.#scales, [...this.#factor, row]);
  }

  at(point: Point): Prediction {
    const covariances = this.#covariances(point);
    const mean = covariances.reduce((sum, covariance, index) => sum + covariance * this.#weights[index]!, 0);
    const explained = forward(this.#factor, covariances).reduce((sum, part) => sum + part * part, 0);
    return { mean, deviation: Math.sqrt(Math.max(LEAST_VARIANCE, 1 - explained)) };
  }

  #covariances(point: Point): Float64Array {
    return Float64Array.from(this.samples.points, (other) => matern(squaredDistance(point, other, this.#inverse)));
  }
}

/** Limit on the steps of the fit, and the change of a logarithm below which it ends. */
const MOST_STEPS = 60;
const LEAST_STEP = 0.01;
const FIRST_STEP = 0.3;
const MOST_STEP = 1;
/** Initial values and bounds of the fitted logarithms. */
const start = { length: Math.log(0.5), noise: Math.log(1e-3) };
const bounds = { length: [-6, 6], noise: [Math.log(1e-6), 0] } as const;

/** Maximizes the posterior of the scales by the signs of its gradient (Rprop; Riedmiller and Braun, 1993). */
function* fittedScales(samples: Samples): Generator<void, Scales> {
  const dimensions = samples.points[0]!.length;
  let place = [...Array.from({ length: dimensions }, () => start.length), start.noise];
  let best = { scales: scalesOf(place), score: -Infinity };
  let before = place.map(() => 0);
  const steps = place.map(() => FIRST_STEP);
  for (let step = 0; step < MOST_STEPS && steps.some((each) => each >= LEAST_STEP); step += 1) {
    yield;
    const { score, slope } = posterior(samples, scalesOf(place));
    if (score > best.score) best = { scales: scalesOf(place), score };
    const turned = slope.map((each, index) => each * before[index]! < 0);
    place = place.map((each, index) => {
      const product = slope[index]! * before[index]!;
      if (product !== 0) steps[index] = Math.min(MOST_STEP, steps[index]! * (product > 0 ? 1.2 : 0.5));
      const next = turned[index]! ? each : each + Math.sign(slope[index]!) * steps[index]!;
      const [least, most] = index < dimensions ? bounds.length : bounds.noise;
      return Math.min(most, Math.max(least, next));
    });
    before = slope.map((each, index) => (turned[index]! ? 0 : each));
  }
  return best.scales;
}

function scalesOf(place: readonly number[]): Scales {
  return { lengths: place.slice(0, -1), noise: place.at(-1)! };
}

type Posterior = { score: number; slope: number[] };

/** The logarithm of the posterior of the scales, up to a constant, and its gradient. Exported for tests. */
export function posterior(samples: Samples, scales: Scales): Posterior {
  const { points, values } = samples;
  const factor = choleskyFactor(points, scales);
  const weights = backward(factor, forward(factor, values));
  const score = values.reduce(
    (sum, value, index) => sum - (value * weights[index]!) / 2 - Math.log(factor[index]![index]!),
    0,
  );
  const slope = likelihoodSlope(points, scales, { weights, inverse: inverseOf(factor) });
  const told = priorsOf(scales);
  return {
    score: told.reduce((sum, { distance }) => sum - (distance * distance) / 2, score),
    slope: slope.map((each, index) => each - told[index]!.distance / told[index]!.deviation),
  };
}

/** For each logarithm, the distance from its prior mean in standard deviations. */
function priorsOf({ lengths, noise }: Scales): { distance: number; deviation: number }[] {
  const mean = Math.SQRT2 + Math.log(lengths.length) / 2;
  const deviation = Math.sqrt(3);
  const ofLengths = lengths.map((each) => ({ distance: (each - mean) / deviation, deviation }));
  return [
    ...ofLengths,
    { distance: (noise - noisePrior.mean) / noisePrior.deviation, deviation: noisePrior.deviation },
  ];
}

const noisePrior = { mean: -10, deviation: 2 };

type Solved = { weights: Float64Array; inverse: Triangle };

function likelihoodSlope(points: readonly Point[], scales: Scales, { weights, inverse }: Solved): number[] {
  const shrink = inverseLengths(scales);
  const slope = new Float64Array(points[0]!.length + 1);
  for (let row = 0; row < points.length; row += 1) {
    const point = points[row]!;
    for (let column = 0; column < row; column += 1) {
      const other = points[column]!;
      const factor = weights[row]! * weights[column]! - inverse[row]![column]!;
      const change = -2 * factor * maternSlope(squaredDistance(point, other, shrink));
      for (let axis = 0; axis < shrink.length; axis += 1) {
        const apart = (point[axis]! - other[axis]!) * shrink[axis]!;
        slope[axis]! += change * apart * apart;
      }
    }
    slope[shrink.length]! += ((weights[row]! ** 2 - inverse[row]![row]!) * Math.exp(scales.noise)) / 2;
  }
  return [...slope];
}

function inverseLengths({ lengths }: Scales): Float64Array {
  return Float64Array.from(lengths, (length) => Math.exp(-length));
}

/** The squared distance in length scales. */
function squaredDistance(a: Point, b: Point, inverse: Float64Array): number {
  let squares = 0;
  for (let axis = 0; axis < inverse.length; axis += 1) {
    const apart = (a[axis]! - b[axis]!) * inverse[axis]!;
    squares += apart * apart;
  }
  return squares;
}

/** Matérn's correlation, ν = 5/2, at a squared distance. */
function matern(squares: number): number {
  const scaled = Math.sqrt(5 * squares);
  return (1 + scaled + (scaled * scaled) / 3) * Math.exp(-scaled);
}

/** The derivative of the correlation with respect to the squared distance. */
function maternSlope(squares: number): number {
  const scaled = Math.sqrt(5 * squares);
  return (-5 / 6) * (1 + scaled) * Math.exp(-scaled);
}

/** The Cholesky factor L of the covariance K = L Lᵀ, by rows. */
function choleskyFactor(points: readonly Point[], scales: Scales): Triangle {
  const inverse = inverseLengths(scales);
  const factor: Float64Array[] = [];
  for (const [row, point] of points.entries()) {
    const own = new Float64Array(row + 1);
    let rest = 1 + Math.exp(scales.noise);
    for (let column = 0; column < row; column += 1) {
      const above = factor[column]!;
      let value = matern(squaredDistance(point, points[column]!, inverse));
      for (let index = 0; index < column; index += 1) value -= own[index]! * above[index]!;
      value /= above[column]!;
      own[column] = value;
      rest -= value * value;
    }
    own[row] = Math.sqrt(Math.max(LEAST_VARIANCE, rest));
    factor.push(own);
  }
  return factor;
}

/** The lower triangle of the inverse of L Lᵀ. */
function inverseOf(factor: Triangle): Triangle {
  const size = factor.length;
  const columns = factor.map((_, column) => {
    const own = new Float64Array(size);
    own[column] = 1 / factor[column]![column]!;
    for (let row = column + 1; row < size; row += 1) {
      const above = factor[row]!;
      let value = 0;
      for (let index = column; index < row; index += 1) value -= above[index]! * own[index]!;
      own[row] = value / above[row]!;
    }
    return own;
  });
  return factor.map((_, row) =>
    Float64Array.from({ length: row + 1 }, (_, column) => {
      let value = 0;
      for (let index = row; index < size; index += 1) value += columns[row]![index]! * columns[column]![index]!;
      return value;
    }),
  );
}

/** Solves L x = b. */
function forward(factor: Triangle, b: ArrayLike<number>): Float64Array {
  const x = new Float64Array(b.length);
  for (let row = 0; row < x.length; row += 1) {
    const own = factor[row]!;
    let value = b[row]!;
    for (let column = 0; column < row; column += 1) value -= own[column]! * x[column]!;
    x[row] = value / own[row]!;
  }
  return x;
}

/** Solves Lᵀ x = b. */
function backward(factor: Triangle, b: Float64Array): Float64Array {
  const x = b.slice();
  for (let row = x.length - 1; row >= 0; row -= 1) {
    const own = factor[row]!;
    x[row]! /= own[row]!;
    for (let column = 0; column < row; column += 1) x[column]! -= own[column]! * x[row]!;
  }
  return x;
}
