import { join } from 'node:path';
import { redactShapes } from '../base/redaction.js';
import type { GroupSummary, SweepSummary } from '../protocol/run-summary.js';
import type { SchedulerState } from '../scheduler/state.js';
import type { MetricChoice, Plan, PlannedRun } from '../spec/planned-run.js';
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
  const runs = plans.flatMap((plan) => plan.runs);
  const { show, x } = commonest(runs.map(({ metrics }) => metrics));
  const groups = new Map(plans.flatMap((plan) => plan.groups).map((group) => [group.name, group]));
  const choices = new Map(runs.map((run) => [run.group, run.metrics]));
  return {
    name,
    description: redacted(plans.at(-1)?.description ?? null),
    directory,
    groups: [...groups.values()].map((each): GroupSummary => {
      const group = { ...each, title: redacted(each.title) };
      const own = choices.get(group.name);
      if (own === undefined || (own.x === x && own.show.join() === show.join())) return group;
      return { ...group, shown: { show: own.show, x: own.x } };
    }),
    show,
    x,
    ...objectiveOf(runs),
  };
}

function redacted(text: string | null): string | null {
  return text === null ? null : redactShapes(text);
}

/** Groups may differ in what they try to do; then nothing can be said of the sweep. */
function objectiveOf(runs: readonly PlannedRun[]): Pick<SweepSummary, 'objective'> {
  const stated = runs.flatMap(({ objective }) => objective ?? []);
  const [first] = stated;
  if (first === undefined || stated.some(({ name, goal }) => name !== first.name || goal !== first.goal)) return {};
  return { objective: { name: first.name, goal: first.goal } };
}

/** What most runs want shown: warm-ups come first in a file, but are not what it is about. */
function commonest(choices: readonly MetricChoice[]): Pick<MetricChoice, 'show' | 'x'> {
  // Runs of a plan share their choices, so that there are few to be put in words.
  const uses = new Map<MetricChoice, number>();
  for (const choice of choices) uses.set(choice, (uses.get(choice) ?? 0) + 1);
  const counts = new Map<string, number>();
  const keyOf = ({ show, x }: MetricChoice) => JSON.stringify([x, show]);
  for (const [choice, count] of uses) counts.set(keyOf(choice), (counts.get(keyOf(choice)) ?? 0) + count);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return choices.find((choice) => keyOf(choice) === most![0]) ?? { show: [], x: 'step' };
}
