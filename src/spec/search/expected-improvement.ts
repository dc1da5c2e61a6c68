import { normalDensity, normalProbability } from '../expand/sampling/special-functions.js';
import { unitHash } from '../expand/sampling/unit-points.js';
import { GaussianProcess, type Point, type Prediction, type Samples } from './gaussian-process.js';

/** What a search knows: values to be small at points of the unit cube, and the points whose values are still to come. */
export type Observations = Samples & { readonly pending: readonly Point[] };

/** Numbers that look random and follow from their names, each between 0 and 1. */
type Stream = (name: string) => number;

/** As in W&B: the process sees no more samples, and of so many points the best one is taken. */
const MOST_SAMPLES = 100;
const CANDIDATES = 1000;
/** Points that are still to come leave room for so many that were observed. */
const LEAST_OBSERVED = 5;
/** Keeps a division by a deviation of zero finite. */
const EPSILON = 1e-6;
/** Candidates between two pauses. */
const AT_ONCE = 50;

/**
 * Random points of the unit cube, those first at which the value is expected to improve most on the best so far: the next
 * point of a Bayesian search is the first. With fewer than two samples, or where these do not tell what kind of function they
 * are of, in random order, as in W&B. Pauses every few milliseconds.
 *
 * @param dimensions Names of the axes. @param seed What all random numbers follow from.
 */
export function* rankedPoints(
  { points, values, pending }: Observations,
  dimensions: readonly string[],
  seed: string,
): Generator<void, Point[]> {
  const stream: Stream = (name) => unitHash(`${seed}/${name}`);
  const candidates = Array.from({ length: CANDIDATES }, (_, index) =>
    dimensions.map((dimension) => stream(`${dimension}/${index}`)),
  );
  const isFinite = points.map((point, index) => [...point, values[index]!].every(Number.isFinite));
  const samples = {
    points: points.filter((_, index) => isFinite[index]),
    values: values.filter((_, index) => isFinite[index]),
  };
  if (samples.points.length < 2) return candidates;
  const process = yield* fitted(samples, pending, stream);
  if (process.isAtBound) return candidates;
  const best = (Math.min(...samples.values) - process.mean) / process.deviation;
  const scores: number[] = [];
  for (const [index, candidate] of candidates.entries()) {
    if (index % AT_ONCE === 0) yield;
    scores.push(expectedImprovement(process.at(candidate), best));
  }
  const order = candidates.map((_, index) => index).sort((a, b) => scores[b]! - scores[a]!);
  return order.map((index) => candidates[index]!);
}

/**
 * By how much a value is expected to be below the best so far, where it is not above (Jones, Schonlau and Welch, 1998).
 * `best` in the units of the prediction.
 */
export function expectedImprovement({ mean, deviation }: Prediction, best: number): number {
  const z = (best - mean) / (deviation + EPSILON);
  return (best - mean) * normalProbability(z) + deviation * normalDensity(z);
}

/** Points that are still to come count as if they had given what the process expects of them. */
function* fitted(samples: Samples, pending: readonly Point[], stream: Stream): Generator<void, GaussianProcess> {
  const seen = someOf(samples, stream);
  const process = yield* GaussianProcess.fit(seen);
  const open = pending
    .filter((point) => point.every(Number.isFinite))
    .slice(0, MOST_SAMPLES - LEAST_OBSERVED)
    .map((point) => ({ point, value: process.valueAt(point) }))
    .filter(({ value }) => Number.isFinite(value));
  if (open.length === 0) return process;
  return yield* GaussianProcess.fit({
    points: [...seen.points, ...open.map(({ point }) => point)],
    values: [...seen.values, ...open.map(({ value }) => value)],
  });
}

/** All, or so many of them, chosen at random; W&B may choose one twice. */
function someOf({ points, values }: Samples, stream: Stream): Samples {
  if (points.length <= MOST_SAMPLES) return { points, values };
  const keys = points.map((_, index) => stream(`(sample)/${index}`));
  const chosen = keys.map((_, index) => index).sort((a, b) => keys[a]! - keys[b]!);
  const kept = chosen.slice(0, MOST_SAMPLES);
  return { points: kept.map((index) => points[index]!), values: kept.map((index) => values[index]!) };
}
