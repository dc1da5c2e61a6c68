import { bestPlace, hasPlace, runValue, type RunValue } from '../analysis/run-value.js';
import { type Bounds, everyPoint } from '../metrics/curve.js';
import type { RunMetrics } from '../metrics/run-metrics.js';

/** Which points of a run's metrics are needed: for most values all of them, for its last value and extremes fewer. */
export function keptFor({ kind }: RunValue): { keep?: Bounds } {
  return kind === 'last' || kind === 'min' || kind === 'max' ? {} : { keep: everyPoint };
}

/** `x`: the axis of the sweep, for values at a place on it. `keys`: the wanted metrics; absent: all. */
type Asked = { readonly x: string; readonly value: RunValue; readonly keys?: Iterable<string> };

/** The values that stand for a run, by metric, see `runValue`. */
export function valuesOf(
  metrics: RunMetrics,
  { x, value, keys = metrics.keys() }: Asked,
): Record<string, number | null> {
  const xKey = hasPlace(value) ? x : 'step';
  const curveOf = (key: string) => metrics.series(key, xKey);
  const best = value.kind === 'best' ? bestPlace(curveOf(value.objective), value.goal) : null;
  const lastOf = (key: string) =>
    value.kind === 'last' ? metrics.sourceOf(key)?.reader.declared?.values.get(key) : undefined;
  return Object.fromEntries([...keys].map((key) => [key, lastOf(key) ?? runValue(curveOf(key), value, best)]));
}
