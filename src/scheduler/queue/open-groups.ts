import type { GroupId } from '../../base/ids.js';
import { type Demand, demandOf, freeSlot, isPossibleLater } from '../placement/placement.js';
import type { Run } from '../run-state.js';
import type { Group, SchedulerState } from '../state.js';
import { completionChanged, isOpen } from './groups.js';

/**
 * Groups whose runs are not all known from the start: each further run is proposed when there is room for it and no known run of
 * the group waits for room or for a user.
 */

/** Whether the group will get a further run without a request, now or when there is room. */
function isGrowing(state: SchedulerState, group: Group): boolean {
  if (!isOpen(group) || !group.ready || state.intakes.length > 0) return false;
  if ([...group.waiting].some((id) => isInTheWay(state.runs.get(id)!))) return false;
  const demand = demandOfNext(state, group);
  return demand !== null && isPossibleLater(state, demand);
}

/** Whether a run keeps its group from growing. One that waits for a retry does not, as it takes no room meanwhile. */
function isInTheWay({ state, hold }: Run): boolean {
  return hold !== null || (state.phase === 'waiting' && state.notBefore === null);
}

/** The groups that are growing, in the order of their submission. */
export function growingGroups(state: SchedulerState): Group[] {
  return [...state.groups.values()].filter((group) => group.open !== null && isGrowing(state, group));
}

/** The first growing group for whose next run there is a free slot; null: none. */
export function groupInNeed(state: SchedulerState): Group | null {
  return growingGroups(state).find((group) => freeSlot(state, demandOfNext(state, group)!) !== null) ?? null;
}

/** The demand of a group's next run, which is that of its other runs; null: it has none. */
function demandOfNext(state: SchedulerState, { runs }: Group): Demand | null {
  const [first] = runs;
  return first === undefined ? null : demandOf(state, { ...state.runs.get(first)!, alone: false });
}

/** Closes groups: they get no further runs. A group that is full or closed stays as it is. */
export function closeGroups(state: SchedulerState, ids: readonly GroupId[], reason: string): void {
  for (const id of ids) {
    const group = state.groups.get(id);
    if (!group?.open || !isOpen(group)) continue;
    group.open = { ...group.open, closed: { by: 'request', reason } };
    completionChanged(state, group);
  }
}
