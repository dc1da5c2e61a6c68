import type { MemoryTask } from '../analysis/memory-task.js';
import type { Curve } from '../analysis/verdict.js';
import { MetricLog } from '../metrics/metric-log.js';

/** Keys under which bits known may be found, best first: by the answer alone, then by the source system's count. */
const bitsKeys = [
  'test/bits/answer_raw',
  'test/bits/answer_clamped',
  'test/bits/known_raw_mean',
  'test/bits/known_clamped_mean',
];
const countKeys = ['progress/episodes', 'progress/examples'];

/** The evaluations in a run's metrics file. An absent file, or one without bits, gives none. */
export async function readCurve(path: string, task: MemoryTask, pause?: Pause): Promise<Curve> {
  // Every evaluation counts, so nothing is boiled down; the log is dropped when the curve is taken.
  const log = new MetricLog(path, null, { older: 0, exact: Infinity });
  await readToEnd(log, pause);
  const keys = new Set(log.keys());
  const bits = log.series(bitsKeys.find((key) => keys.has(key)) ?? '');
  const countKey = countKeys.find((key) => keys.has(key));
  const counts = countKey === undefined ? null : log.series(bitsKeys.find((key) => keys.has(key)) ?? '', countKey).x;
  const evaluations = Array.from(bits.x, (step, index) => ({
    step,
    episodes: counts?.[index] ?? step * (task.perStep ?? 1),
    bits: bits.y[index]!,
  })).filter((evaluation) => !Number.isNaN(evaluation.bits));
  return { evaluations, greedy: greedyOf(log.last()) };
}

function greedyOf(last: Record<string, number | null>): Curve['greedy'] {
  const probability = last['test/greedy_prob'] ?? null;
  return probability === null ? null : { answer: last['test/greedy'] ?? null, probability };
}

/** Lets others work between two parts of a long reading. */
export type Pause = () => Promise<void>;

/** Some 2 ms of work. */
const PART_BYTES = 1 << 18;

/** Reads a metrics file to its present end. Without `pause` at once, whatever it takes. */
export async function readToEnd(log: MetricLog, pause?: Pause): Promise<void> {
  do {
    log.refresh(pause === undefined ? undefined : PART_BYTES);
    await pause?.();
  } while (log.more);
}
