import { bestPlace, hasPlace, runValue, type RunValue } from '../analysis/run-value.js';
import { type Bounds, everyPoint } from '../metrics/bounded-series.js';
import type { RunMetrics } from '../metrics/run-metrics.js';

/** What has to be kept of the metrics of a run for that: of a long one all points, but for its end and its extremes. */
export function keptFor({ kind }: RunValue): { keep?: Bounds } {
  return kind === 'last' || kind === 'min' || kind === 'max' ? {} : { keep: everyPoint };
}

/** `x`: the axis of the sweep, for what asks for a place on it; the others look at the values alone. `keys`: of which metrics; absent: of all. */
type Asked = { readonly x: string; readonly value: RunValue; readonly keys?: Iterable<string> };

/** What stands for a run, of metrics that it has written, as `runValue` gives it. */
export function valuesOf(
  metrics: RunMetrics,
  { x, value, keys = metrics.keys() }: Asked,
): Record<string, number | null> {
  const xKey = hasPlace(value) ? x : 'step';
  const curveOf = (key: string) => metrics.series(key, xKey);
  const best = value.kind === 'best' ? bestPlace(curveOf(value.objective), value.goal) : null;
  return Object.fromEntries([...keys].map((key) => [key, runValue(curveOf(key), value, best)]));
}
