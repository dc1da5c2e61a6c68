import type { Run } from '../run-state.js';
import type { Need } from './slot.js';
import type { SchedulerState } from '../state.js';

/**
 * What a run takes of the machine, as far as it is known now. `gpus` 0: one CPU slot.
 *
 * `memory`: MiB on each GPU; null: not known, and it counts by its share alone. `least`: what it needs where it
 * has a GPU to itself. They differ only where the figure was learned, and `memory` has some to spare.
 */
export type Demand = Omit<Need, 'memory'> & { memory: number | null; least: number };

/** What siblings took may be exceeded a little. */
const LEARNED_MARGIN = 1.1;

/** What was declared counts; else what ended runs of the group took. */
export function demandOf({ groups }: Pick<SchedulerState, 'groups'>, { need, alone, group }: Run): Demand {
  const { gpus, memory: declared } = need;
  const perGpu = alone ? 1 : need.perGpu;
  if (declared !== null) return { gpus, perGpu, memory: declared, least: declared };
  const peak = groups.get(group)?.peakMemory ?? null;
  return { gpus, perGpu, memory: peak === null ? null : Math.ceil(peak * LEARNED_MARGIN), least: peak ?? 0 };
}

/** MiB it takes of a GPU that has room for `room`; null: not known. */
export function takes({ memory, least }: Demand, room: number): number | null {
  return memory === null ? null : Math.max(least, Math.min(memory, room));
}
