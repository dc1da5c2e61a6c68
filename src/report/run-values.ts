import { bestPlace, hasPlace, runValue, type RunValue } from '../analysis/run-value.js';
import { type Bounds, everyPoint } from '../metrics/bounded-series.js';
import type { RunMetrics } from '../metrics/run-metrics.js';

/** What has to be kept of the metrics of a run for that: of a long one all points, but for its end and its extremes. */
export function keptFor({ kind }: RunValue): { keep?: Bounds } {
  return kind === 'last' || kind === 'min' || kind === 'max' ? {} : { keep: everyPoint };
}

/**
 * What stands for a run, of every metric that it has written, as `runValue` gives it.
 *
 * @param x The x axis of the sweep, for what asks for a place on it; the others look at the values alone.
 */
export function valuesOf(metrics: RunMetrics, x: string, value: RunValue): Record<string, number | null> {
  const xKey = hasPlace(value) ? x : 'step';
  const curveOf = (key: string) => metrics.series(key, xKey);
  const best = value.kind === 'best' ? bestPlace(curveOf(value.objective), value.goal) : null;
  return Object.fromEntries(metrics.keys().map((key) => [key, runValue(curveOf(key), value, best)]));
}
