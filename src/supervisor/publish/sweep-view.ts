import { join } from 'node:path';
import { redactShapes } from '../../text/redaction.js';
import type { GroupSummary, SweepSummary } from '../../protocol/run-summary.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { MetricChoice, Plan, PlannedRun } from '../../spec/planned-run.js';
import type { SubmissionStore } from '../runs/submission-store.js';

type Objective = NonNullable<PlannedRun['objective']>;

/** The sweeps as clients see them. A sweep that was submitted in parts has the groups of all parts. */
export function sweepSummaries(state: SchedulerState, book: SubmissionStore, runsDirectory: string): SweepSummary[] {
  return [...state.sweeps].map(([name, ids]) => {
    const keys = new Set<string>();
    for (const id of ids) keys.add(state.runs.get(id)!.plan);
    const plans = [...keys].map((key) => book.page(key).plan);
    return summary(name, plans, join(runsDirectory, name));
  });
}

function summary(name: string, plans: readonly Plan[], directory: string): SweepSummary {
  const { uses, choices, objectives } = digestOf(plans);
  const { show, x } = commonest(uses);
  const groups = new Map(plans.flatMap((plan) => plan.groups).map((group) => [group.name, group]));
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
    ...objectiveOf(objectives),
  };
}

/** What is looked at of all runs. `uses`: how many runs make each choice, in the order of the file. `choices`: by group. */
type Digest = { uses: Map<MetricChoice, number>; choices: Map<string, MetricChoice>; objectives: Set<Objective> };

/** Runs of a plan share what they have in common, so that there is little of it, and one look at each run is enough. */
function digestOf(plans: readonly Plan[]): Digest {
  const digest: Digest = { uses: new Map(), choices: new Map(), objectives: new Set() };
  for (const { runs } of plans) {
    for (const { group, metrics, objective } of runs) {
      digest.uses.set(metrics, (digest.uses.get(metrics) ?? 0) + 1);
      digest.choices.set(group, metrics);
      if (objective !== null) digest.objectives.add(objective);
    }
  }
  return digest;
}

function redacted(text: string | null): string | null {
  return text === null ? null : redactShapes(text);
}

/** Groups may differ in what they try to do; then nothing can be said of the sweep. */
function objectiveOf(objectives: ReadonlySet<Objective>): Pick<SweepSummary, 'objective'> {
  const stated = [...objectives];
  const [first] = stated;
  if (first === undefined || stated.some(({ name, goal }) => name !== first.name || goal !== first.goal)) return {};
  return { objective: { name: first.name, goal: first.goal } };
}

/** What most runs want shown: warm-ups come first in a file, but are not what it is about. */
function commonest(uses: ReadonlyMap<MetricChoice, number>): Pick<MetricChoice, 'show' | 'x'> {
  const counts = new Map<string, number>();
  const keyOf = ({ show, x }: MetricChoice) => JSON.stringify([x, show]);
  for (const [choice, count] of uses) counts.set(keyOf(choice), (counts.get(keyOf(choice)) ?? 0) + count);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return [...uses.keys()].find((choice) => keyOf(choice) === most![0]) ?? { show: [], x: 'step' };
}
