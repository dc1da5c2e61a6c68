import type { GroupBy } from '../state/grouping.js';
import type { RunSummary, SweepSummary } from '../state/port.js';
import { levelOf } from './grouping-level.js';
import type { VaryingParameters } from './varying-parameters.js';

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
