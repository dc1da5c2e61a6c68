import type { GroupBy } from '../../state/grouping.js';
import type { RunSummary, SweepSummary } from '../../state/port.js';
import { levelOf } from './grouping-level.js';
import type { VaryingParameters } from '../varying-parameters.js';

/** Something the list can be grouped by. `groups`: the resulting number of groups. */
export type GroupChoice = { readonly by: GroupBy; readonly groups: number };

/** What runs can be grouped by: group, state, slot, each parameter that varies, kind of error, or nothing. */
export function groupChoices(
  runs: readonly RunSummary[],
  sweeps: readonly SweepSummary[],
  varyingParameters: VaryingParameters,
): GroupChoice[] {
  const counted = (by: GroupBy): GroupChoice => {
    return { by, groups: new Set(runs.map(levelOf(by, sweeps).keyOf)).size };
  };
  const parameters = [...varyingParameters].map(([key, { values }]): GroupChoice => {
    return { by: { kind: 'parameter', key }, groups: values };
  });
  return [...before.map(counted), ...parameters, ...after.map(counted)];
}

const before: readonly GroupBy[] = [{ kind: 'group' }, { kind: 'state' }, { kind: 'gpu' }];
const after: readonly GroupBy[] = [{ kind: 'error' }, { kind: 'none' }];
