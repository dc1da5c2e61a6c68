import type { Parameters } from '../../base/scalar.js';
import type { RunMetrics } from '../../metrics/run-metrics.js';

type Read = Pick<RunMetrics, 'keys' | 'last' | 'series' | 'sourceOf'>;

/** A counter that programs log, and the parameters that limit it. Matched with the last parts of names. */
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
    // Not `num_steps` and `n_steps`, which in reinforcement learning are those of one rollout.
    totals: /^((max|total|train|num_train)_)?(steps|timesteps|iters)$|^((max|num|total|n)_)?iterations$|^n_batches$/,
    shareOf: shareOfSteps,
  },
];

/** Pairs whose shares differ by more contradict each other, and none is used. */
const ALIKE = 0.1;
/** A rollout may slightly exceed its budget of steps; a counter beyond this factor counts something else. */
const BEYOND = 1.1;

/** What a total counts, by its name, best match first: SB3 logs iterations of its loop beside the timesteps that are limited. */
const units: readonly { readonly total: RegExp; readonly counters: readonly RegExp[] }[] = [
  { total: /timestep/, counters: [/timestep/, /step/] },
  { total: /iter/, counters: [/iter/, /^/] },
  { total: /^/, counters: [/step/, /^/] },
];

/** A pair whose parameter is set. */
export type Limit = { readonly pair: Pair; readonly total: number; readonly counters: readonly RegExp[] };

/** The pairs whose parameters a run has. */
export function limitsOf(parameters: Parameters): Limit[] {
  return pairs.flatMap((pair) => {
    const total = totalOf(parameters, pair.totals);
    return total === null ? [] : [{ pair, total: total.value, counters: countersOf(pair, total.name) }];
  });
}

/**
 * Progress of a run by a counter that it logs and the parameter that limits it (`epoch` and `epochs`), 0 to 1; null if there is no
 * such pair, or if in doubt: no value is better than a wrong one.
 */
export function countedProgress(metrics: Read, limits: readonly Limit[]): number | null {
  const shares = limits.flatMap(({ pair, total, counters }) => {
    const key = counterAmong(metrics, pair.counter, counters);
    return key === undefined ? [] : [pair.shareOf(metrics, key, total)];
  });
  const [first = null, second = first] = shares;
  if (first === null || second === null || Math.abs(first - second) > ALIKE) return null;
  return Math.min(1, Math.max(0, first));
}

function countersOf({ shareOf }: Pair, total: string): readonly RegExp[] {
  return shareOf === shareOfEpochs ? [/^/] : units.find((unit) => unit.total.test(total))!.counters;
}

/** The value of all parameters with such names; null: there is none, or they differ. */
function totalOf(parameters: Parameters, names: RegExp): { name: string; value: number } | null {
  const found = Object.entries(parameters).flatMap(([key, value]) => {
    const name = lastPart(key);
    return names.test(name) && typeof value === 'number' ? [{ name, value }] : [];
  });
  const [total] = found;
  return total !== undefined && total.value > 0 && found.every(({ value }) => value === total.value) ? total : null;
}

/** The key of a counter, by the first of `preferred` that one has; a step that merely counts calls does not qualify. */
function counterAmong(metrics: Read, names: RegExp, preferred: readonly RegExp[]): string | undefined {
  const isCounter = (key: string) =>
    names.test(lastPart(key)) && metrics.sourceOf(key)?.found.format.countsCalls !== true;
  const counters = Object.keys(metrics.last()).filter(isCounter);
  for (const unit of preferred) {
    const found = counters.find((key) => unit.test(lastPart(key)));
    if (found !== undefined) return found;
  }
  return undefined;
}

function lastPart(name: string): string {
  return (name.split(/[./]/).at(-1) ?? '').replaceAll('-', '_').toLowerCase();
}

function shareOfEpochs(metrics: Read, key: string, total: number): number | null {
  const { y } = metrics.series(key);
  const [first = NaN, last = NaN] = [y[0], y.at(-1)];
  const areWhole = Number.isInteger(first) && Number.isInteger(last);
  if (!areWhole) return last <= total ? last / total : null;
  // Epochs are counted from 0 or from 1; that of a resumed run is unknown.
  const ended = last - first;
  return (first === 0 || first === 1) && ended < total ? (ended + presentShare(y)) / total : null;
}

/** Progress within the present epoch, by the number of rows in the previous one. */
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

/** The first step of a metric, which tells whether the last one is the total, or one less. */
function firstStep(metrics: Read, key: string): number | undefined {
  const own = metrics.series(key).y;
  if (own.length > 0) return own[0];
  return metrics
    .keys()
    .map((each) => metrics.series(each).x[0])
    .find((at) => at !== undefined);
}
