import { groupBy } from '../../base/group-by.js';
import type { FleetPort } from '../state/port.js';
import { tally, type Tally } from './tally.js';

/** A sweep that can be shown; `sweep` null: all sweeps together. */
export type SweepChoice = { readonly sweep: string | null; readonly tally: Tally };

/** The choices: all sweeps together if there are several, then each sweep, most recently submitted first. */
export function sweepChoices({ runs, sweeps }: Pick<FleetPort, 'runs' | 'sweeps'>): readonly SweepChoice[] {
  const all = [...runs.values()];
  const own = groupBy(all, ({ sweep }) => sweep);
  const each = [...sweeps.keys()]
    .reverse()
    .map((sweep): SweepChoice => ({ sweep, tally: tally(own.get(sweep) ?? [], null) }));
  return each.length > 1 ? [{ sweep: null, tally: tally(all, null) }, ...each] : each;
}

/** The title of a sweep in the menu of sweeps. */
export function sweepTitle(sweep: string | null): string {
  return sweep ?? 'all sweeps';
}
