import type { Plan } from '../../spec/planned-run.js';
import { type Change, type Difference, resumes } from './difference.js';
import type { Estimate } from './estimate.js';
import type { Answers } from '../answers/schemas.js';
import { hasEnded } from '../../base/run-words.js';
import { isoTime } from '../show/run-table.js';
import { plannedStart } from './start-time.js';
import { policyWords } from '../../spec/policy/policy-words.js';

/** The changes and the duration of a launch, as far as known. */
type LaunchEffect = { readonly difference: Difference; readonly estimate: Estimate };

/** `now`: Unix ms. */
type Launching = { readonly slots: readonly string[]; readonly now: number };

/** The plan for scripts: `--dry-run --json`. */
export function planJson(
  { difference, estimate }: LaunchEffect,
  plan: Plan,
  { slots, now }: Launching,
): Answers['plan'] {
  return {
    sweep: plan.sweep,
    slots,
    notes: plan.notes ?? [],
    groups: plan.groups,
    changes: countsOf(difference),
    absent: difference.absent.map(({ name, group, state }) => ({ name, group, state })),
    estimate: estimate === null ? null : { totalSeconds: estimate.total, addedSeconds: estimate.added },
    runs: difference.changes.map(({ run, standing, row, kind, settings, ...change }) => ({
      name: run.name,
      nameByFile: change.nameByFile ?? run.name,
      group: run.group,
      subgroup: run.subgroup,
      parameters: run.parameters,
      argv: run.argv,
      env: run.env,
      cwd: run.cwd,
      directory: run.directory,
      needs: run.needs,
      neededRuns: run.neededRuns ?? [],
      policy: policyWords(run),
      startsAt: isoTime(row === null || hasEnded(row.state) ? plannedStart(run, now) : (row.startsAt ?? null)),
      state: standing.state,
      reason: standing.reason,
      live: row?.state ?? null,
      change: kind,
      growth: change.growth,
      settings,
      changedSince: change.changedSince,
      resumeArgs: resumes({ kind, row, standing }) ? run.resumeArgs : [],
    })),
  };
}

/** Counts of runs by change; those with a larger budget by state. */
function countsOf({ changes }: Difference): Answers['plan']['changes'] {
  const count = (kind: Change['kind']) => changes.filter((change) => change.kind === kind).length;
  const longer: Record<string, number> = {};
  for (const { kind, state } of changes) {
    if (kind === 'longer') longer[state ?? 'unfinished'] = (longer[state ?? 'unfinished'] ?? 0) + 1;
  }
  return { new: count('new'), longer, again: count('again'), same: count('same') };
}
