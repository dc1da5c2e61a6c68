import { resultsOf } from '../../../analysis/seed-statistics.js';
import type { ChartChoice } from '../../state/chart-choice.js';
import type { Series } from '../../state/port.js';
import type { Curve } from './chart-look.js';
import { xScaleOf } from './axes/chart-range.js';
import { valueAt } from './axes/chart-scale.js';
import { lastValue, type ChartSeries } from './chart-series.js';
import { lowerBound } from './chart-thin.js';

/** The x at which values are read off; null when there is no cursor or nothing on the axis. */
export function cursorX(curves: readonly Curve[], choice: ChartChoice): number | null {
  const whole = choice.cursor === null ? null : xScaleOf(curves, { ...choice, zoom: null });
  return whole === null ? null : valueAt(whole, choice.cursor!);
}

/**
 * What a strand has at some x, or at its end. `value` NaN: what is there is no number. `runs`: how many it speaks for,
 * `carried` of them by the value they ended with, of `of` that are drawn as one. `nan` and `infinite`: runs whose value
 * is no number.
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
};

/** Of a single run. */
function alone(value: number): Reading {
  const { finite, nan, infinite } = resultsOf([value]);
  return { value, low: Number.NaN, high: Number.NaN, runs: finite.length, carried: 0, of: 1, nan, infinite };
}

/** The reading at `x`, on the line between the points around it; null beyond the ends, in gaps, and where x has no order. */
export function readingAt({ whole, seeds, isRising }: ChartSeries, x: number): Reading | null {
  if (!isRising || whole.x.length === 0) return null;
  const value = valueNear(whole, x);
  if (value === null) return null;
  if (seeds === null) return alone(value);
  const cell = Math.min(whole.x.length - 1, lowerBound(whole.x, x, 0));
  const carried = seeds.carried[cell]!;
  const [low, high] = [seeds.low[cell]!, seeds.high[cell]!];
  return { value, low, high, runs: seeds.counts[cell]! + carried, carried, of: seeds.runs, nan: 0, infinite: 0 };
}

/** What the legend says without a cursor: the last value written; of seeds what stands for those of each. */
export function lastReading({ whole, raw, seeds }: ChartSeries): Reading | null {
  if (seeds === null) return whole.y.length === 0 ? null : alone(lastValue(raw ?? whole, whole));
  const { last, results } = seeds;
  const { finite, nan, infinite } = results;
  const runs = { runs: finite.length, carried: 0, of: seeds.runs, nan, infinite };
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
