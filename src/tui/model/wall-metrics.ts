import { alikeMetrics } from '../../analysis/alike-metrics.js';
import { inMetricOrder, isCounter, isCountingOne, type MetricsToShow } from '../../analysis/metric-order.js';
import { groupBy } from '../../base/group-by.js';
import { Memo } from '../../base/memo.js';
import type { MetricReader } from '../state/port.js';
import type { WallMetrics } from '../state/wall-choice.js';
import type { History } from './history.js';

/** Runs whose curves say which metrics are alike, and what only counts. */
const mostRuns = 3;

/** What was read, and of whom. `of`: the selection. */
type Written = { readonly history: History; readonly of: string; readonly readers: readonly MetricReader[] };

/** Every metric is looked at for this, so only again when there is twice as much of them; nor do charts change places all the time. */
const known = new Memo<History, WallMetrics>(8);

/** The metrics of a selection in the order of the wall, and which show the same. */
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

/** The first, the last, and what is between them. */
function spread(readers: readonly MetricReader[]): MetricReader[] {
  const last = readers.length - 1;
  return [...new Set([0, Math.floor(last / 2), last])].slice(0, mostRuns).flatMap((index) => readers[index] ?? []);
}

/**
 * Metrics of one prefix together (`train/…`), in the order in which the best of each comes; results first in each. What only
 * counts, tells the time or was set comes after all others. The x axis is none of them.
 */
export function wallOrder(keys: Iterable<string>, choice: MetricsToShow, counting?: ReadonlySet<string>): string[] {
  const inOrder = inMetricOrder(keys, choice, counting).filter((key) => key !== choice.x);
  const byPrefix = (some: readonly string[]): string[] =>
    [...groupBy(some, (key) => key.slice(0, Math.max(0, key.indexOf('/')))).values()].flat();
  const isLast = (key: string): boolean => isCounter(key, choice, counting);
  return [...byPrefix(inOrder.filter((key) => !isLast(key))), ...byPrefix(inOrder.filter(isLast))];
}
