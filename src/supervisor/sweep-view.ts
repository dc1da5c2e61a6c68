import { join } from 'node:path';
import type { SweepSummary } from '../protocol/run-summary.js';
import type { SchedulerState } from '../scheduler/state.js';
import type { Plan } from '../spec/planned-run.js';
import type { RunBook } from './run-book.js';

/** The sweeps as clients see them. A sweep that was submitted in parts has the groups of all parts. */
export function sweepSummaries(state: SchedulerState, book: RunBook, runsDirectory: string): SweepSummary[] {
  return [...state.sweeps].map(([name, ids]) => {
    const keys = new Set([...ids].map((id) => state.runs.get(id)!.plan));
    const plans = [...keys].map((key) => book.page(key).plan);
    return summary(name, plans, join(runsDirectory, name));
  });
}

function summary(name: string, plans: readonly Plan[], directory: string): SweepSummary {
  const newest = plans.at(-1);
  const metrics = newest?.runs[0]?.metrics;
  return {
    name,
    description: newest?.description ?? null,
    directory,
    groups: [...new Map(plans.flatMap(({ groups }) => groups).map((group) => [group.name, group])).values()],
    show: metrics?.show ?? [],
    x: metrics?.x ?? 'step',
  };
}
