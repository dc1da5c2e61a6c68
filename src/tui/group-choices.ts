import type { GroupBy } from './grouping.js';
import type { RunSummary, SweepSummary } from './port.js';
import { levelOf } from './view/grouping-level.js';
import type { VaryingParameters } from './view/varying-parameters.js';

/** Something the list can be divided by. `groups`: how many that gives. */
export type GroupChoice = { readonly by: GroupBy; readonly groups: number };

/** What the runs can be grouped by: group, state, slot, and every parameter that varies. */
export function groupChoices(
  runs: readonly RunSummary[],
  sweeps: readonly SweepSummary[],
  variety: VaryingParameters,
): GroupChoice[] {
  const common: GroupBy[] = [{ kind: 'group' }, { kind: 'state' }, { kind: 'gpu' }];
  const counted = common.map((by) => ({ by, groups: new Set(runs.map(levelOf(by, sweeps).keyOf)).size }));
  const parameters = [...variety].map(([key, { values }]) => ({
    by: { kind: 'parameter', key } as const,
    groups: values,
  }));
  return [...counted, ...parameters];
}
