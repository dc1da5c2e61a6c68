import type { Completion, Plan, PlannedRun } from '../../spec/planned-run.js';
import { policyWords } from '../../spec/policy/policy-words.js';

/** The plan for scripts: `--dry-run --json`. One object; runs in launch order. */
export function planJson(planned: readonly Planned[], plan: Plan, slots: readonly string[]): object {
  return {
    sweep: plan.sweep,
    slots,
    notes: plan.notes ?? [],
    groups: plan.groups,
    runs: planned.map(({ run, standing }) => ({
      name: run.name,
      group: run.group,
      subgroup: run.subgroup,
      parameters: run.parameters,
      argv: run.argv,
      env: run.env,
      cwd: run.cwd,
      directory: run.directory,
      needs: run.needs,
      policy: policyWords(run),
      state: standing.state,
      reason: standing.reason,
    })),
  };
}

/** A run and what is left to do of it. */
export type Planned = { readonly run: PlannedRun; readonly standing: Completion };
