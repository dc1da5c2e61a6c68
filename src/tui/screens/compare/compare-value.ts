import type { Goal, Ranked } from '../../../analysis/best-first.js';
import { bestPlace, runValue } from '../../../analysis/run-value.js';
import { type Results, resultsOf } from '../../../analysis/seed-statistics.js';
import { deviation, mean } from '../../../analysis/statistics.js';
import type { ValueSummary } from '../../state/compare-choice.js';
import type { Series } from '../../state/port.js';

/** The direction in which a metric improves, if known. */
export type Direction = Goal;

/** The value of one run's curve, which may be NaN or infinite. `low` and `high` are equal unless a range represents the curve. */
export type CurveValue = { readonly low: number; readonly high: number };

/**
 * The value of several runs. `mean` and `deviation` (of a sample, n − 1; 0 for one run) are over the `count` runs with a finite
 * value, NaN if there are none; `range`: the lowest and highest value if the direction is not known. `nan` and `infinite`: number
 * of runs with such a value.
 */
export type Sample = (
  | { readonly kind: 'mean'; readonly mean: number; readonly deviation: number }
  | { readonly kind: 'range'; readonly low: number; readonly high: number }
) & { readonly count: number } & Pick<Results, 'nan' | 'infinite'>;

/** How a curve is reduced to a value. `x`: position for `at cursor`. */
export type Question = { readonly summary: ValueSummary; readonly direction: Direction; readonly x: number | null };

/** The number that represents a curve, as in `report --value`; null: there is none. */
export function curveValue(curve: Series, { summary, direction, x }: Question): CurveValue | null {
  switch (summary) {
    case 'last':
      return single(runValue(curve, { kind: 'last' }));
    case 'mean of last 10':
      return single(runValue(curve, { kind: 'mean', of: 10 }));
    case 'auc':
      return single(runValue(curve, { kind: 'auc' }));
    case 'best':
      return best(curve, direction);
    case 'at cursor':
      return x === null ? null : single(valueAt(curve.x, curve.y, x));
  }
}

function single(value: number | null): CurveValue | null {
  return value === null ? null : { low: value, high: value };
}

/** The best value, or both ends if the direction is not known; null if no value is finite. */
function best(curve: Series, direction: Direction): CurveValue | null {
  if (bestPlace(curve, 'minimize') === null) return null;
  const [low, high] = (['min', 'max'] as const).map((kind) => runValue(curve, { kind })!) as [number, number];
  return direction === null ? { low, high } : single(direction === 'minimize' ? low : high);
}

/** The last value at or before `at`; null before the first. */
function valueAt(x: Float64Array, y: Float64Array, at: number): number | null {
  return y[lastAtMost(x, at)] ?? null;
}

/** Index of the last x at or below `at`, x being non-decreasing; -1: all are above. */
function lastAtMost(x: Float64Array, at: number): number {
  let [low, high] = [0, x.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Sample over the runs that have a value, including non-finite ones; null if none has. */
export function sampleOf(values: readonly (CurveValue | null)[]): Sample | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const { finite, nan, infinite } = resultsOf(known.map(({ low }) => low));
  const counts = { count: finite.length, nan, infinite };
  if (known.some(({ low, high }) => low < high)) {
    const low = finite.reduce((least, value) => Math.min(least, value), Infinity);
    const high = known.reduce(
      (most, value) => (Number.isFinite(value.high) ? Math.max(most, value.high) : most),
      -Infinity,
    );
    return { kind: 'range', low, high, ...counts };
  }
  return { kind: 'mean', mean: mean(finite) ?? Number.NaN, deviation: deviation(finite) ?? 0, ...counts };
}

/** The values by which samples are ranked. A range has no best end, so its upper end is used. */
export function rankedSamples(samples: readonly (Sample | null)[]): Ranked[] {
  return samples.map((sample) => {
    if (sample === null || sample.count === 0) return { value: null, isBroken: true };
    const value = sample.kind === 'mean' ? sample.mean : sample.high;
    return { value, isBroken: sample.nan + sample.infinite > 0 };
  });
}

/** Difference of a value from the baseline's. `percent`: relative to the baseline; null if that is 0 or too small. */
export type Delta = {
  readonly absolute: number;
  readonly percent: number | null;
  readonly verdict: 'better' | 'worse' | 'same' | 'unknown';
};

/** Null if one of them has no single finite value. */
export function deltaOf(sample: Sample | null, base: Sample | null, direction: Direction): Delta | null {
  if (sample?.kind !== 'mean' || base?.kind !== 'mean' || Number.isNaN(sample.mean + base.mean)) return null;
  const absolute = sample.mean - base.mean;
  const percent = (absolute / Math.abs(base.mean)) * 100;
  return { absolute, percent: Number.isFinite(percent) ? percent : null, verdict: verdictOf(absolute, direction) };
}

function verdictOf(absolute: number, direction: Direction): Delta['verdict'] {
  if (absolute === 0) return 'same';
  if (direction === null) return 'unknown';
  return absolute > 0 === (direction === 'maximize') ? 'better' : 'worse';
}
