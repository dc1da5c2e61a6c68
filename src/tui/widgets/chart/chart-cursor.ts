import { resultsOf } from '../../../analysis/seed-statistics.js';
import type { ChartChoice } from '../../state/chart-choice.js';
import type { Series } from '../../state/port.js';
import type { Curve } from '../../model/curves/chart-data.js';
import { xScaleOf } from './axes/chart-range.js';
import { valueAt } from './axes/chart-scale.js';
import { lastValue, type ChartSeries, lowerBound } from './chart-series.js';

/** The x at which values are read off; null without a cursor or an x range. */
export function cursorX(curves: readonly Curve[], choice: ChartChoice): number | null {
  const whole = choice.cursor === null ? null : xScaleOf(curves, { ...choice, zoom: null });
  return whole === null ? null : valueAt(whole, choice.cursor!);
}

/**
 * The value of a series at some x or at its end. `value` NaN: not a number. `runs`: number of runs it represents, `carried` of them
 * by their final value, out of `of` runs drawn as one. `nan` and `infinite`: number of runs with such a value. `behind`:
 * number of runs that are not as far as the others.
 */
export type Reading = {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly runs: number;
  readonly carried: number;
  readonly of: number;
  readonly nan: number;
  readonly infinite: number;
  readonly behind: number;
};

/** The reading of a single run. */
function alone(value: number): Reading {
  const { finite, nan, infinite } = resultsOf([value]);
  return { value, low: Number.NaN, high: Number.NaN, runs: finite.length, carried: 0, of: 1, nan, infinite, behind: 0 };
}

/** The reading at `x`, interpolated between points; null beyond the ends, in gaps, and if x is not increasing. */
export function readingAt({ whole, seeds, isRising }: ChartSeries, x: number): Reading | null {
  if (!isRising || whole.x.length === 0) return null;
  const value = valueNear(whole, x);
  if (value === null) return null;
  if (seeds === null) return alone(value);
  const cell = Math.min(whole.x.length - 1, lowerBound(whole.x, x, 0));
  const carried = seeds.carried[cell]!;
  const [low, high] = [seeds.low[cell]!, seeds.high[cell]!];
  return {
    value,
    low,
    high,
    runs: seeds.counts[cell]! + carried,
    carried,
    of: seeds.of,
    nan: 0,
    infinite: 0,
    behind: 0,
  };
}

/** The reading without a cursor: the last value written; for seeds, the summary of their last values. */
export function lastReading({ whole, raw, last: known, seeds }: ChartSeries): Reading | null {
  if (seeds === null) return whole.y.length === 0 ? null : alone(known ?? lastValue(raw ?? whole, whole));
  const { last, results, behind } = seeds;
  const { finite, nan, infinite } = results;
  const runs = { runs: finite.length, carried: 0, of: seeds.of, nan, infinite, behind };
  return { value: last.middle, low: last.low, high: last.high, ...runs };
}

function valueNear({ x, y }: Series, at: number): number | null {
  const next = lowerBound(x, at, 0);
  const value = x[next] === at ? y[next]! : between({ x, y }, next, at);
  return Number.isFinite(value) ? value : null;
}

function between({ x, y }: Series, next: number, at: number): number {
  if (next === 0 || next >= x.length) return Number.NaN;
  const share = (at - x[next - 1]!) / (x[next]! - x[next - 1]!);
  return y[next - 1]! + (y[next]! - y[next - 1]!) * share;
}
