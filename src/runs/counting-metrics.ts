import { countingAmong, inMetricOrder, type MetricsToShow } from '../analysis/metric-order.js';
import type { RunMetrics } from '../metrics/run-metrics.js';

/** The counters among a run's metrics, as far as they affect the choice of its default metric. */
export function countingIn(metrics: RunMetrics, choice: MetricsToShow): string[] {
  return countingAmong(inMetricOrder(metrics.keys(), choice), choice, metrics);
}
