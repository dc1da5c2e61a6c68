import { type RunSummary } from '../port.js';
import { statesByUrgency } from './state-look.js';
import { elapsed } from './tally.js';

/** The orders `s` goes through. */
export const sorts = ['file order', 'state', 'metric', 'time'] as const;
export type Sort = (typeof sorts)[number];

/** Runs in the chosen order; equal ones, and `file order`, stay as they were. Missing values come last. */
export function sorted(
  runs: readonly RunSummary[],
  sort: Sort,
  metric: string | null,
  now: number,
): readonly RunSummary[] {
  if (sort === 'file order') return runs;
  const rank = rankBy(sort, metric, now);
  return runs
    .map((run) => ({ run, rank: rank(run) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ run }) => run);
}

function rankBy(sort: Exclude<Sort, 'file order'>, metric: string | null, now: number): (run: RunSummary) => number {
  if (sort === 'state') return (run) => statesByUrgency.indexOf(run.state);
  if (sort === 'metric') return (run) => falling(metric === null ? null : run.metrics[metric]);
  return (run) => falling(elapsed(run, now));
}

/** Greatest first. A large finite number rather than Infinity: Infinity − Infinity is no order. */
function falling(value: number | null | undefined): number {
  return value === null || value === undefined || Number.isNaN(value) ? Number.MAX_VALUE / 4 : -value;
}
