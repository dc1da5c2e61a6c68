import type { ChartChoice } from '../../state/chart-choice.js';
import type { Series } from '../../state/port.js';
import type { Curve } from './chart-look.js';
import { xScaleOf } from './chart-range.js';
import { valueAt } from './chart-scale.js';
import { lastValue, type ChartSeries } from './chart-series.js';
import { lowerBound } from './chart-thin.js';

/** The x at which values are read off; null when there is no cursor or nothing on the axis. */
export function cursorX(curves: readonly Curve[], choice: ChartChoice): number | null {
  const whole = choice.cursor === null ? null : xScaleOf(curves, { ...choice, zoom: null });
  return whole === null ? null : valueAt(whole, choice.cursor!);
}

/** What a strand has at some x. `runs`: how many it speaks for there. */
export type Reading = { readonly value: number; readonly low: number; readonly high: number; readonly runs: number };

/** The reading at `x`, on the line between the points around it; null beyond the ends, in gaps, and where x has no order. */
export function readingAt({ whole, seeds, isRising }: ChartSeries, x: number): Reading | null {
  if (!isRising || whole.x.length === 0) return null;
  const value = valueNear(whole, x);
  if (value === null) return null;
  if (seeds === null) return { value, low: Number.NaN, high: Number.NaN, runs: 1 };
  const cell = Math.min(whole.x.length - 1, lowerBound(whole.x, x, 0));
  return { value, low: seeds.low[cell]!, high: seeds.high[cell]!, runs: seeds.counts[cell]! };
}

/** What the legend says without a cursor: the last value; of seeds what stands for the last value of each. */
export function lastReading({ whole, seeds }: ChartSeries): Reading | null {
  if (seeds !== null) return { ...seeds.last, value: seeds.last.middle, runs: seeds.runs };
  const value = lastValue(whole);
  return Number.isNaN(value) ? null : { value, low: Number.NaN, high: Number.NaN, runs: 1 };
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
