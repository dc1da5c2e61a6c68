import { join } from 'node:path';
import { namesIn } from '../../analysis/metric-order.js';
import { runFiles } from '../../contract/files.js';
import type { GroupSummary, SweepSummary } from '../../protocol/run-summary.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import { redactShapes } from '../../text/redaction.js';
import type { SubmissionStore } from '../runs/submission-store.js';

type Objective = NonNullable<PlannedRun['objective']>;

/** The sweeps as clients see them. A sweep that was submitted in parts has the groups of all parts. */
export function sweepSummaries(
  state: SchedulerState,
  submissions: SubmissionStore,
  runsDirectory: string,
): SweepSummary[] {
  return [...state.sweeps].map(([name, ids]) => {
    const keys = new Set<string>();
    for (const id of ids) keys.add(state.runs.get(id)!.plan);
    const plans = [...keys].map((key) => submissions.of(key).plan);
    return summary(name, plans, join(runsDirectory, name));
  });
}

function summary(name: string, plans: readonly Plan[], directory: string): SweepSummary {
  const { uses, choices, graces, doneFiles, objectives } = digestOf(plans);
  const shown = commonest(uses);
  const groups = new Map(plans.flatMap((plan) => plan.groups).map((group) => [group.name, group]));
  return {
    name,
    description: redacted(plans.at(-1)?.description ?? null),
    directory,
    groups: [...groups.values()].map((each): GroupSummary => {
      const grace = graces.get(each.name);
      const needs = [...each.needs, ...(each.needsBy ?? []).map(({ group: needed }) => needed)];
      const doneFile = doneFiles.get(each.name);
      const group = {
        ...{ ...each, needs, title: redacted(each.title) },
        ...(grace === undefined ? {} : { grace }),
        ...(doneFile === undefined ? {} : { doneFile }),
      };
      const own = choices.get(group.name);
      return own === undefined || keyOf(own) === keyOf(shown) ? group : { ...group, shown: own };
    }),
    ...shown,
    ...objectiveOf(objectives),
  };
}

/** What is looked at of all runs. `uses`: how many runs make each choice, in the order of the file. `choices`, `graces` (seconds): by group. */
type Digest = {
  uses: Map<Shown, number>;
  choices: Map<string, Shown>;
  graces: Map<string, number>;
  doneFiles: Map<string, string>;
  objectives: Set<Objective>;
};
type Shown = Pick<SweepSummary, 'show' | 'x' | 'judgedBy'>;

/** Runs of a plan share what they have in common, so that there is little of it, and one look at each run is enough. */
function digestOf(plans: readonly Plan[]): Digest {
  const digest: Digest = {
    uses: new Map(),
    choices: new Map(),
    graces: new Map(),
    doneFiles: new Map(),
    objectives: new Set(),
  };
  const known = new Map<PlannedRun['metrics'], Shown>();
  for (const { runs } of plans) {
    for (const run of runs) {
      const { group, metrics, grace, objective } = run;
      const shown = known.get(metrics) ?? { show: metrics.show, x: metrics.x, ...judgedByOf(run) };
      known.set(metrics, shown);
      digest.uses.set(shown, (digest.uses.get(shown) ?? 0) + 1);
      digest.choices.set(group, shown);
      digest.graces.set(group, grace);
      const doneFile = doneFileOf(run);
      if (doneFile !== null) digest.doneFiles.set(group, doneFile);
      if (objective !== null) digest.objectives.add(objective);
    }
  }
  return digest;
}

/** The file of its directory that says that a run is done; null: its exit code does. */
export function doneFileOf({ done }: Pick<PlannedRun, 'done'>): string | null {
  if ('output' in done) return runFiles.log;
  return 'file' in done ? done.file : null;
}

function judgedByOf(run: PlannedRun): Pick<Shown, 'judgedBy'> {
  const judgedBy = judgesOf(run);
  return judgedBy.length === 0 ? {} : { judgedBy };
}

/** Names of the metrics by which a run is judged: its objective, then those of its stop rule. */
export function judgesOf({ objective, stopWhen }: Pick<PlannedRun, 'objective' | 'stopWhen'>): string[] {
  const names = [...(objective === null ? [] : [objective.name]), ...(stopWhen === null ? [] : namesIn(stopWhen.when))];
  return [...new Set(names)];
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
function commonest(uses: ReadonlyMap<Shown, number>): Shown {
  const counts = new Map<string, number>();
  for (const [shown, count] of uses) counts.set(keyOf(shown), (counts.get(keyOf(shown)) ?? 0) + count);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return [...uses.keys()].find((shown) => keyOf(shown) === most![0]) ?? { show: [], x: 'step' };
}

function keyOf({ show, x, judgedBy }: Shown): string {
  return JSON.stringify([x, show, judgedBy]);
}
