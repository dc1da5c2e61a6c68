import { inMetricOrder, type MetricsToShow } from '../../analysis/metric-order.js';
import type { RunValue } from '../../analysis/run-value.js';
import { downsample, type Line } from '../../metrics/line.js';
import type { RunMetrics } from '../../metrics/run-metrics.js';
import { valuesOf } from '../run-values.js';
import { asInfinite } from './value-axis.js';

/**
 * Limit on the metrics of a run that are kept for figures: which ones are shown is known only later, but tables show four by
 * default.
 */
const MOST_LIKELY = 12;

/** The data that a page keeps from a run's metrics. */
export type RunCurves = {
  readonly written: ReadonlySet<string>;
  /** For those metrics that may be shown: curves with no more points than a figure shows, and the run's values. */
  readonly lines: ReadonlyMap<string, Line>;
  readonly values: Readonly<Record<string, number | null>>;
};

/** What is kept of a run. `points`: limit for each curve. */
type Taking = {
  readonly choice: MetricsToShow;
  readonly points: number;
  readonly value: RunValue;
  /** Further metrics to keep. */
  readonly besides: readonly string[];
};

/** Extracts the reduced curves from a run's metrics, which can then be freed. */
export function curvesOf(metrics: RunMetrics, { choice, points, value, besides }: Taking): RunCurves {
  const written = new Set(metrics.keys());
  const likely = inMetricOrder(written, choice).slice(0, MOST_LIKELY);
  const keys = new Set([...likely, ...besides.filter((key) => written.has(key))]);
  const lines = [...keys].map((key) => {
    return [key, downsample(numbersOf(metrics, key, choice.x), points / 2)] as const;
  });
  return { written, lines: new Map(lines), values: valuesOf(metrics, { x: choice.x, value, keys }) };
}

/** Whether the curves of these metrics were kept. */
export function hasAll({ written, lines }: RunCurves, keys: readonly string[]): boolean {
  return keys.every((key) => lines.has(key) || !written.has(key));
}

/** A curve over the x axis of the sweep; over the steps if the run does not have that. An infinite value leaves the figure. */
function numbersOf(metrics: RunMetrics, metric: string, x: string): Line {
  const wanted = metrics.series(metric, x);
  const line = wanted.y.length === 0 ? metrics.series(metric) : wanted;
  const kept = Array.from(line.y.keys()).filter((at) => !Number.isNaN(line.y[at]) && Number.isFinite(line.x[at]));
  const drawable = (value: number) => Math.min(asInfinite, Math.max(-asInfinite, value));
  return { x: Float64Array.from(kept, (at) => line.x[at]!), y: Float64Array.from(kept, (at) => drawable(line.y[at]!)) };
}
