import type { RunSummary } from '../../client/fleet.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import { doneTest } from '../../spec/policy/done-rule.js';
import { completionOf } from '../../spec/policy/completion.js';
import { readRunFacts } from '../../files/completion-facts.js';
import type { Verdict } from '../../tui/editor-port.js';
import { compactNames } from '../plan/compact-names.js';

/** What a text would submit. `plan`: only the runs that are new or have more to do; null: there are none. */
export type Proposal = { readonly verdict: Verdict; readonly plan: Plan | null };

/**
 * What is new in a plan against the runs that are known: runs that are not there yet, and runs that have more to do
 * because a budget grew. Runs that failed or were killed are left as they are: who extends a sweep did not ask for them.
 */
export function proposalOf(plan: Plan, known: ReadonlyMap<string, RunSummary>, width: number): Proposal {
  const fresh = plan.runs.filter(({ id }) => !known.has(id));
  const grown = plan.runs.flatMap((run) => {
    const why = known.has(run.id) ? growthOf(run) : null;
    return why === null ? [] : [{ run, why }];
  });
  const runs = [...fresh, ...grown.map(({ run }) => run)];
  const others = plan.runs.length - runs.length;
  if (runs.length === 0) {
    const lines = [
      `All ${plan.runs.length} runs of this file are there already.`,
      '→ Add values, or a group, or drop it.',
    ];
    return { verdict: { kind: 'refused', lines }, plan: null };
  }
  const parts = [
    ...(fresh.length === 0 ? [] : [`${fresh.length} new ${fresh.length === 1 ? 'run' : 'runs'}`]),
    ...(grown.length === 0 ? [] : [`${grown.length} with more to do`]),
  ];
  const lines = [
    ...groupLines(fresh, width),
    ...grown.slice(0, mostGrown).map(({ run, why }) => `${run.name}: ${why}`),
    ...(grown.length > mostGrown ? [`and ${grown.length - mostGrown} more`] : []),
    ...(others === 0 ? [] : [`${others} stay as they are`]),
  ];
  return { verdict: { kind: 'ready', summary: parts.join(', '), lines }, plan: { ...plan, runs } };
}

const mostGrown = 6;

/** One line for each group: `A  12: A_N{16,64}_s{0,1,2}`. */
function groupLines(runs: readonly PlannedRun[], width: number): string[] {
  const groups = new Map<string, string[]>();
  for (const { group, name } of runs) groups.set(group, [...(groups.get(group) ?? []), name]);
  return [...groups].map(([group, names]) => {
    const head = `${group}  ${names.length}: `;
    return head + compactNames(names, width - head.length);
  });
}

function growthOf(run: PlannedRun): string | null {
  const { state, reason } = completionOf(run, readRunFacts(run.directory, run.done, doneTest(run)));
  return state === 'resume' && /\b(grew|changed) from\b/.test(reason) ? reason : null;
}
