import type { MemoryTask } from '../analysis/memory-task.js';
import type { Curve } from '../analysis/verdict.js';
import { everyPoint } from '../metrics/bounded-series.js';
import { openMetrics, type Pause } from '../metrics/run-metrics.js';

/** Keys under which bits known may be found, best first: by the answer alone, then by the source system's count. */
const bitsKeys = [
  'test/bits/answer_raw',
  'test/bits/answer_clamped',
  'test/bits/known_raw_mean',
  'test/bits/known_clamped_mean',
];
const countKeys = ['progress/episodes', 'progress/examples'];

/** The evaluations among a run's metrics. A run that wrote none, or none of bits, gives none. */
export async function readCurve(runDirectory: string, task: MemoryTask, pause?: Pause): Promise<Curve> {
  // Every evaluation counts; the metrics are dropped when the curve is taken.
  const metrics = await openMetrics(runDirectory, { keep: everyPoint }).readToEnd(pause);
  const keys = new Set(metrics.keys());
  const bits = metrics.series(bitsKeys.find((key) => keys.has(key)) ?? '');
  const countKey = countKeys.find((key) => keys.has(key));
  const counts =
    countKey === undefined ? null : metrics.series(bitsKeys.find((key) => keys.has(key)) ?? '', countKey).x;
  const evaluations = Array.from(bits.x, (step, index) => ({
    step,
    episodes: counts?.[index] ?? step * (task.perStep ?? 1),
    bits: bits.y[index]!,
  })).filter((evaluation) => !Number.isNaN(evaluation.bits));
  return { evaluations, greedy: greedyOf(metrics.last()) };
}

function greedyOf(last: Record<string, number | null>): Curve['greedy'] {
  const probability = last['test/greedy_prob'] ?? null;
  return probability === null ? null : { answer: last['test/greedy'] ?? null, probability };
}
