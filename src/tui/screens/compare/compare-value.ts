import { withoutNoise } from '../../../analysis/statistics.js';
import type { ValueSummary } from '../../state/compare-choice.js';
import type { Series } from '../../state/port.js';

/** Which way a metric should go, if the sweep says so. */
export type Direction = 'minimize' | 'maximize' | null;

/** The value of one run's curve. `low` and `high` are the same unless it is a range that stands for the curve. */
export type CurveValue = { readonly low: number; readonly high: number };

/**
 * The value of several runs. `mean` and `deviation` (of a sample, n − 1; 0 for one run) are over the runs that have a
 * value. `range`: the lowest and the highest value of any, where nothing says which of them is best.
 */
export type Sample =
  | { readonly kind: 'mean'; readonly mean: number; readonly deviation: number; readonly count: number }
  | { readonly kind: 'range'; readonly low: number; readonly high: number; readonly count: number };

/** What is asked of a curve. `x`: where `at cursor` reads it. */
export type Question = { readonly summary: ValueSummary; readonly direction: Direction; readonly x: number | null };

/** Values that `mean of last 10` is the mean of. */
const lastFew = 10;

/** The number that stands for a curve; null for one without a finite value. */
export function curveValue({ x, y }: Series, question: Question): CurveValue | null {
  switch (question.summary) {
    case 'last':
      return single(meanOfLast(y, 1));
    case 'mean of last 10':
      return single(meanOfLast(y, lastFew));
    case 'best':
      return best(y, question.direction);
    case 'at cursor':
      return question.x === null ? null : single(valueAt(x, y, question.x));
  }
}

function single(value: number | null): CurveValue | null {
  return value === null ? null : { low: value, high: value };
}

/** Over the last `count` finite values, or as many as there are. */
function meanOfLast(y: Float64Array, count: number): number | null {
  let [sum, found] = [0, 0];
  for (let index = y.length - 1; index >= 0 && found < count; index--) {
    if (!Number.isFinite(y[index])) continue;
    sum += y[index]!;
    found++;
  }
  return found === 0 ? null : sum / found;
}

function best(y: Float64Array, direction: Direction): CurveValue | null {
  let [low, high] = [Infinity, -Infinity];
  for (const value of y) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return null;
  return direction === null ? { low, high } : single(direction === 'minimize' ? low : high);
}

/** The last finite value at or before `at`: what a person would have read there. Null before the first. */
function valueAt(x: Float64Array, y: Float64Array, at: number): number | null {
  for (let index = lastAtMost(x, at); index >= 0; index--) if (Number.isFinite(y[index])) return y[index]!;
  return null;
}

/** Index of the last x at or below `at`, x not falling; -1: all are above. */
function lastAtMost(x: Float64Array, at: number): number {
  let [low, high] = [0, x.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Of the runs that have a value; null where none has. */
export function sampleOf(values: readonly (CurveValue | null)[]): Sample | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const count = known.length;
  if (known.some(({ low, high }) => low !== high)) {
    const low = known.reduce((least, value) => Math.min(least, value.low), Infinity);
    return { kind: 'range', low, high: known.reduce((most, value) => Math.max(most, value.high), -Infinity), count };
  }
  const mean = known.reduce((sum, { low }) => sum + low / count, 0);
  const squares = known.reduce((sum, { low }) => sum + (low - mean) ** 2, 0);
  return { kind: 'mean', mean, deviation: count > 1 ? withoutNoise(Math.sqrt(squares / (count - 1)), mean) : 0, count };
}

/** How far a value is from the baseline's. `percent`: of the baseline's size; null where that is 0 or too small. */
export type Delta = {
  readonly absolute: number;
  readonly percent: number | null;
  readonly verdict: 'better' | 'worse' | 'same' | 'unknown';
};

/** Null where one of them has no single value. */
export function deltaOf(sample: Sample | null, base: Sample | null, direction: Direction): Delta | null {
  if (sample?.kind !== 'mean' || base?.kind !== 'mean') return null;
  const absolute = sample.mean - base.mean;
  const percent = (absolute / Math.abs(base.mean)) * 100;
  return { absolute, percent: Number.isFinite(percent) ? percent : null, verdict: verdictOf(absolute, direction) };
}

function verdictOf(absolute: number, direction: Direction): Delta['verdict'] {
  if (absolute === 0) return 'same';
  if (direction === null) return 'unknown';
  return absolute > 0 === (direction === 'maximize') ? 'better' : 'worse';
}
