import { alikeMetrics } from '../../analysis/alike-metrics.js';
import { inMetricOrder, isCounter, isCountingOne, type MetricsToShow } from '../../analysis/metric-order.js';
import { groupBy } from '../../base/group-by.js';
import { Memo } from '../../base/memo.js';
import type { MetricReader } from '../state/port.js';
import type { WallMetrics } from '../state/wall-choice.js';
import type { History } from './history.js';

/** Number of runs whose curves decide which metrics are alike and which are counters. */
const mostRuns = 3;

/** The readers of a selection. `of`: identifies the selection. */
type Written = { readonly history: History; readonly of: string; readonly readers: readonly MetricReader[] };

/** Cached because it reads every metric: recomputed only when the points have doubled, which also keeps charts in place. */
const known = new Memo<History, WallMetrics>(8);

/** The metrics of a selection in the order of the wall, and which of them are alike. */
export function wallMetrics({ history, of, readers }: Written, choice: MetricsToShow): WallMetrics {
  const keys = [...new Set(readers.flatMap((reader) => reader.keys()))];
  const few = spread(readers);
  const points = few.map((reader) => Math.max(0, ...keys.slice(0, 3).map((key) => reader.series(key).y.length)));
  const question = JSON.stringify([of, readers.length, points.map((count) => Math.ceil(Math.log2(count + 1))), keys]);
  return known.value(history, question, () => {
    const counting = new Set(
      keys.filter((key) => few.some((reader) => isCountingOne(key, choice, (one) => reader.series(one).y))),
    );
    const metrics = wallOrder(keys, choice, counting);
    const isLast = (metric: string): boolean => isCounter(metric, choice, counting);
    return { metrics, firstOf: alikeMetrics(metrics, (metric) => few.map((reader) => reader.series(metric)), isLast) };
  });
}

/** The first, the middle and the last reader. */
function spread(readers: readonly MetricReader[]): MetricReader[] {
  const last = readers.length - 1;
  return [...new Set([0, Math.floor(last / 2), last])].slice(0, mostRuns).flatMap((index) => readers[index] ?? []);
}

/**
 * Orders metrics so that those with one prefix (`train/…`) stand together, prefixes in the order of their best metric, results
 * first within each. Counters, times and settings come last. The x axis is left out.
 */
export function wallOrder(keys: Iterable<string>, choice: MetricsToShow, counting?: ReadonlySet<string>): string[] {
  const inOrder = inMetricOrder(keys, choice, counting).filter((key) => key !== choice.x);
  const byPrefix = (some: readonly string[]): string[] =>
    [...groupBy(some, (key) => key.slice(0, Math.max(0, key.indexOf('/')))).values()].flat();
  const isLast = (key: string): boolean => isCounter(key, choice, counting);
  return [...byPrefix(inOrder.filter((key) => !isLast(key))), ...byPrefix(inOrder.filter(isLast))];
}
