import { determinedIn, greedyOf, memoryKeys } from '../analysis/memory-metrics.js';
import type { MemoryTask } from '../analysis/memory-task.js';
import { mean } from '../analysis/statistics.js';
import type { ToldRun } from '../analysis/told.js';
import type { Curve } from '../analysis/verdict.js';
import type { RunMetrics } from '../metrics/run-metrics.js';

/** How often a run no longer knew the secret after it had known it at a hundred evaluations in a row. */
const TIMES_LOST = 'test/bits/times_lost';

/** What the metrics of a run tell of the secret. */
type CurveRead = Curve & Pick<ToldRun, 'determinedAfter'> & { readonly timesLost: number };

/** How many steps of the optimizer a run has made. */
const UPDATES = 'optim/updates';

/** The evaluations in a run's metrics; empty for a run without evaluations or bits. */
export function curveOf(metrics: RunMetrics, task: MemoryTask): CurveRead {
  const keys = new Set(metrics.keys());
  const { bits: bitsKey, count: countKey } = memoryKeys((key) => keys.has(key));
  const bits = metrics.series(bitsKey ?? '');
  const counts = countKey === null ? null : metrics.series(bitsKey ?? '', countKey).x;
  const updates = keys.has(UPDATES) ? metrics.series(bitsKey ?? '', UPDATES).x : null;
  const evaluations = Array.from(bits.x, (step, index) => ({
    step,
    episodes: counts?.[index] ?? step * (task.perStep ?? 1),
    bits: bits.y[index]!,
    ...(updates === null ? {} : { updates: updates[index]! }),
  })).filter((evaluation) => !Number.isNaN(evaluation.bits));
  const last = metrics.last();
  return {
    evaluations,
    greedy: greedyOf(last),
    lately: latelyIn(metrics),
    distinct: last['progress/distinct_examples'] ?? null,
    determinedAfter: determinedIn(last),
    timesLost: last[TIMES_LOST] ?? 0,
  };
}

/** Means over the last tenth of the rows with group statistics. */
function latelyIn(metrics: RunMetrics): NonNullable<Curve['lately']> | null {
  const meanOf = (key: string) => {
    const { y } = metrics.series(key);
    return mean([...y.subarray(y.length - Math.ceil(y.length / 10))]);
  };
  const mixed = meanOf('env/all/by_group/frac_mixed');
  const reward = meanOf('env/all/reward/total');
  return mixed === null || reward === null ? null : { constantShare: 1 - mixed, reward };
}
