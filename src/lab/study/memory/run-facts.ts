import type { MemoryTask } from '../../environments/memory/task.js';
import { mean } from '../../../analysis/statistics.js';
import type { ToldRun } from './told.js';
import { type Curve, type Evaluation, judge } from './verdict.js';
import type { ReportedState } from '../../../analysis/analysed-run.js';
import { signalBits } from '../../environments/memory/rules.js';
import type { RunRows } from '../run-rows.js';

/** Metrics of bits known, best first: over the answer alone, then by memory-rl's count. */
const bitsKeys = [
  'test/bits/answer_raw',
  'test/bits/answer_clamped',
  'test/bits/known_raw_mean',
  'test/bits/known_clamped_mean',
];
/** Metrics that count what was learnt from, best first. */
const countKeys = ['progress/episodes', 'progress/examples'];

/** Metric: how often the secret was lost after a hundred evaluations in a row that knew it. */
const TIMES_LOST = 'test/bits/times_lost';
/** Metric: optimizer steps so far. */
const UPDATES = 'optim/updates';

/**
 * Facts about the secret in the metrics of a run. `distinct`: number of distinct examples learnt from; null: not
 * counted.
 */
type RunFacts = ToldRun & { readonly distinct: number | null; readonly timesLost: number };

export function factsOf(rows: RunRows, task: MemoryTask, state: ReportedState): RunFacts {
  const last = Object.fromEntries([...rows.keys].map((key) => [key, rows.last(key) ?? null]));
  const curve = { evaluations: evaluationsIn(rows, task), greedy: greedyOf(last), lately: latelyIn(rows) };
  return {
    verdict: judge(curve, { secretBits: signalBits(task.N), secret: task.secret, state }),
    distinct: last['progress/distinct_examples'] ?? null,
    determinedAfter: determinedIn(last),
    timesLost: last[TIMES_LOST] ?? 0,
  };
}

/** Empty for a run without evaluations or bits. */
function evaluationsIn(rows: RunRows, task: MemoryTask): Evaluation[] {
  const { bits: bitsKey, count: countKey } = memoryKeys((key) => rows.keys.has(key));
  const bits = rows.series(bitsKey ?? '');
  const counts = countKey === null ? null : rows.series(bitsKey ?? '', countKey).x;
  const updates = rows.keys.has(UPDATES) ? rows.series(bitsKey ?? '', UPDATES).x : null;
  const evaluations = bits.x.map((step, index) => ({
    step,
    episodes: counts?.[index] ?? step * (task.perStep ?? 1),
    bits: bits.y[index]!,
    ...(updates === null ? {} : { updates: updates[index]! }),
  }));
  return evaluations.filter((evaluation) => !Number.isNaN(evaluation.bits));
}

/** Means over the last tenth of the rows with group statistics. */
function latelyIn(rows: RunRows): NonNullable<Curve['lately']> | null {
  const meanOf = (key: string) => {
    const { y } = rows.series(key);
    return mean(y.slice(y.length - Math.ceil(y.length / 10)));
  };
  const mixed = meanOf('env/all/by_group/frac_mixed');
  const reward = meanOf('env/all/reward/total');
  return mixed === null || reward === null ? null : { constantShare: 1 - mixed, reward };
}

/** The metric that measures bits known, and the one that counts episodes or examples; null: the run has none. */
function memoryKeys(has: (key: string) => boolean): { bits: string | null; count: string | null } {
  return { bits: bitsKeys.find(has) ?? null, count: countKeys.find(has) ?? null };
}

type LastValues = Readonly<Record<string, number | null>>;

/** The last answer at temperature 0; null: the run did not measure it. */
function greedyOf(last: LastValues): Curve['greedy'] {
  const probability = last['test/greedy_prob'] ?? null;
  return probability === null ? null : { answer: last['test/greedy'] ?? null, probability };
}

/**
 * The number of episodes after which an ideal observer could have named the secret; null: never. Undefined: there was no observer.
 */
function determinedIn(last: LastValues): number | null | undefined {
  return 'observer/bits_known' in last ? (last['observer/determined_after'] ?? null) : undefined;
}
