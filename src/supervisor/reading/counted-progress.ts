import type { Parameters } from '../../base/scalar.js';
import type { RunMetrics } from '../../metrics/run-metrics.js';

type Read = Pick<RunMetrics, 'keys' | 'last' | 'series' | 'sourceOf'>;

/** A counter that programs log, and the parameters by which they are told how far it goes. Last parts of names. */
type Pair = {
  readonly counter: RegExp;
  readonly totals: RegExp;
  readonly shareOf: (metrics: Read, key: string, total: number) => number | null;
};

const pairs: readonly Pair[] = [
  {
    counter: /^(current_?)?epoch$/,
    totals: /^(epochs|((max|num|n|total|nb|num_train|train)_)epochs|nepochs)$/,
    shareOf: shareOfEpochs,
  },
  {
    counter: /^((global|train|total)_?)?(steps?|timesteps?|iter|iters|iteration|iterations)$/,
    // Not `num_steps` and `n_steps`: in reinforcement learning those of one rollout.
    totals: /^((max|total|train|num_train)_)?(steps|timesteps|iters)$|^((max|num|total|n)_)?iterations$|^n_batches$/,
    shareOf: shareOfSteps,
  },
];

/** Two pairs that differ by more say different things: then neither is believed. */
const ALIKE = 0.1;
/** A rollout may lead a little beyond its budget of steps; a counter that goes further counts something else. */
const BEYOND = 1.1;

/** A pair of which the parameter is known. */
export type Limit = { readonly pair: Pair; readonly total: number };

/** The parameters that say how far something goes. */
export function limitsOf(parameters: Parameters): Limit[] {
  return pairs.flatMap((pair) => {
    const total = totalOf(parameters, pair.totals);
    return total === null ? [] : [{ pair, total }];
  });
}

/**
 * How far a run is by a counter that it logs and the parameter that says how far it goes (`epoch` and `epochs`), 0 to 1; null
 * where there is no such pair, or in doubt: nothing is better than something wrong.
 */
export function countedProgress(metrics: Read, limits: readonly Limit[]): number | null {
  const shares = limits.flatMap(({ pair, total }) => {
    const key = counterAmong(metrics, pair.counter);
    return key === undefined ? [] : [pair.shareOf(metrics, key, total)];
  });
  const [first = null, second = first] = shares;
  if (first === null || second === null || Math.abs(first - second) > ALIKE) return null;
  return Math.min(1, Math.max(0, first));
}

/** Of all parameters of such names; null: there is none, or they say different things. */
function totalOf(parameters: Parameters, names: RegExp): number | null {
  const found = Object.entries(parameters).flatMap(([name, value]) =>
    names.test(lastPart(name)) && typeof value === 'number' ? [value] : [],
  );
  const [total] = found;
  return total !== undefined && total > 0 && found.every((each) => each === total) ? total : null;
}

/** Where a step is only the number of calls, it is no counter. */
function counterAmong(metrics: Read, names: RegExp): string | undefined {
  const isCounter = (key: string) =>
    names.test(lastPart(key)) && metrics.sourceOf(key)?.found.format.countsCalls !== true;
  return Object.keys(metrics.last()).find(isCounter);
}

function lastPart(name: string): string {
  return (name.split(/[./]/).at(-1) ?? '').replaceAll('-', '_').toLowerCase();
}

function shareOfEpochs(metrics: Read, key: string, total: number): number | null {
  const { y } = metrics.series(key);
  const [first = NaN, last = NaN] = [y[0], y.at(-1)];
  const areWhole = Number.isInteger(first) && Number.isInteger(last);
  if (!areWhole) return last <= total ? last / total : null;
  // Counted from 0 or from 1; of one that was taken up later nobody knows.
  const ended = last - first;
  return (first === 0 || first === 1) && ended < total ? (ended + presentShare(y)) / total : null;
}

/** How much of the present epoch is done, as far as is known by how many rows the one before had. */
function presentShare(epochs: Float64Array): number {
  const begun = epochs.findLastIndex((value) => value !== epochs.at(-1)) + 1;
  if (begun === 0) return 0;
  const before = epochs.subarray(0, begun).findLastIndex((value) => value !== epochs[begun - 1]) + 1;
  return Math.min(1, (epochs.length - begun) / (begun - before));
}

function shareOfSteps(metrics: Read, key: string, total: number): number | null {
  const last = metrics.last()[key];
  if (last === null || last === undefined || last > total * BEYOND) return null;
  const first = firstStep(metrics, key);
  return (first === 0 ? last + 1 : last) / total;
}

/** By which it is seen whether the last step is the total, or one less. */
function firstStep(metrics: Read, key: string): number | undefined {
  const own = metrics.series(key).y;
  if (own.length > 0) return own[0];
  return metrics
    .keys()
    .map((each) => metrics.series(each).x[0])
    .find((at) => at !== undefined);
}
