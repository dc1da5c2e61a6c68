import { countingAmong, inMetricOrder, type MetricsToShow } from '../analysis/metric-order.js';
import type { RunMetrics } from '../metrics/run-metrics.js';

/** The metrics of a run that only count, as far as it matters for which of them stands for the run. */
export function countingIn(metrics: RunMetrics, choice: MetricsToShow): string[] {
  return countingAmong(inMetricOrder(metrics.keys(), choice), choice, (key) => metrics.series(key).y);
}
