import { greedyOf, memoryKeys } from '../analysis/memory-metrics.js';
import type { MemoryTask } from '../analysis/memory-task.js';
import type { Curve } from '../analysis/verdict.js';
import { everyPoint } from '../metrics/bounded-series.js';
import { openMetrics, type Pause } from '../metrics/run-metrics.js';

/** The evaluations among a run's metrics. A run that wrote none, or none of bits, gives none. */
export async function readCurve(runDirectory: string, task: MemoryTask, pause?: Pause): Promise<Curve> {
  // Every evaluation counts; the metrics are dropped when the curve is taken.
  const metrics = await openMetrics(runDirectory, { keep: everyPoint }).readToEnd(pause);
  const keys = new Set(metrics.keys());
  const { bits: bitsKey, count: countKey } = memoryKeys((key) => keys.has(key));
  const bits = metrics.series(bitsKey ?? '');
  const counts = countKey === null ? null : metrics.series(bitsKey ?? '', countKey).x;
  const evaluations = Array.from(bits.x, (step, index) => ({
    step,
    episodes: counts?.[index] ?? step * (task.perStep ?? 1),
    bits: bits.y[index]!,
  })).filter((evaluation) => !Number.isNaN(evaluation.bits));
  return { evaluations, greedy: greedyOf(metrics.last()) };
}
