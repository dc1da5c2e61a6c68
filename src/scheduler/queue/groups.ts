import type { GroupId, RunId } from '../../base/ids.js';
import { type Demand, demandOf, freeSlot, isPossibleLater } from '../placement/placement.js';
import type { Group, Run, SchedulerState, StepContext } from '../state.js';
import { requeue } from './queues.js';

/** The group of that id, created on first mention: a group may be needed before its own runs are known. */
export function groupOf(state: SchedulerState, id: GroupId): Group {
  const known = state.groups.get(id);
  if (known !== undefined) return known;
  const group: Group = {
    ...{ id, needs: [], neededBy: new Set() },
    ...{ runs: new Set(), waiting: new Set(), done: new Set(), broken: new Set(), dropped: new Set() },
    ...{ ready: true, breaker: null, quickFailures: new Set(), trips: 0, peakMemory: null, open: null, start: null },
  };
  state.groups.set(id, group);
  return group;
}

/** Sets the groups that a group waits for, and updates whether they are done. */
export function setNeeds(state: SchedulerState, id: GroupId, needs: readonly GroupId[]): void {
  const group = groupOf(state, id);
  for (const needed of group.needs) state.groups.get(needed)?.neededBy.delete(id);
  group.needs = needs;
  for (const needed of needs) groupOf(state, needed).neededBy.add(id);
  refreshReadiness(state, group);
}

/** Must be called when a run of this group becomes done, or stops being done: dependent groups may start, or must wait. */
export function completionChanged(state: SchedulerState, group: Group): void {
  for (const id of group.neededBy) refreshReadiness(state, groupOf(state, id));
}

/** Records which runs of a group the sweep file no longer has. @param named The runs of the file. */
export function setDropped(state: SchedulerState, id: GroupId, named: ReadonlySet<RunId>): void {
  const group = groupOf(state, id);
  group.dropped = new Set([...group.runs].filter((run) => !named.has(run)));
  completionChanged(state, group);
}

/** The first group that this one still waits for; null: none. */
export function unmetNeed(state: SchedulerState, group: Group): Group | null {
  for (const id of group.needs) {
    const needed = groupOf(state, id);
    if (!isComplete(state, needed)) return needed;
  }
  return null;
}

/** Whether the group may still get further runs, whatever they wait for. */
export function isOpen({ open, runs }: Pick<Group, 'open' | 'runs'>): boolean {
  return open !== null && open.closed === null && runs.size < open.cap;
}

/** The runs of a group that have failed, and that others wait for: those that the sweep file still has. */
export function brokenInFile({ broken, dropped }: Pick<Group, 'broken' | 'dropped'>): RunId[] {
  return dropped.size === 0 ? [...broken] : [...broken].filter((id) => !dropped.has(id));
}

/** Whether all runs of a group are done. A group without runs is complete, unless some are still to be added. */
function isComplete({ intakes }: SchedulerState, group: Group): boolean {
  const { id, done, runs, broken } = group;
  if (done.size + broken.size < runs.size || isOpen(group) || intakes.some(({ awaited }) => awaited.has(id)))
    return false;
  return done.size === runs.size || brokenInFile(group).length === 0;
}

function refreshReadiness(state: SchedulerState, group: Group): void {
  const ready = unmetNeed(state, group) === null;
  if (ready === group.ready) return;
  group.ready = ready;
  for (const id of group.waiting) requeue(state, state.runs.get(id)!);
}

/** Sets the runs that must be done before this one. Its queue is updated with its next change of state. */
export function setNeededRuns({ dependents }: SchedulerState, run: Run, needs: readonly RunId[] = []): void {
  for (const id of run.needs) leave(dependents, id, run.id);
  run.needs = needs;
  for (const id of needs) dependents.set(id, (dependents.get(id) ?? new Set()).add(run.id));
}

function leave(dependents: SchedulerState['dependents'], id: RunId, dependent: RunId): void {
  const others = dependents.get(id);
  others?.delete(dependent);
  if (others?.size === 0) dependents.delete(id);
}

/** Whether a run needs another: by itself, or as its group needs that one's. */
export function neededBy(
  { runs, groups }: Pick<SchedulerState, 'runs' | 'groups'>,
  id: RunId,
): (other: RunId) => boolean {
  const { needs, group } = runs.get(id)!;
  const needed = groups.get(group)!.needs;
  const isInNeeded = (other: RunId) => needed.some((each) => each === runs.get(other)?.group);
  return (other) => needs.includes(other) || isInNeeded(other);
}

/**
 * Must be called when a run has ended, or starts again: the runs that need it may start, must wait, or get another waiting reason.
 */
export function neededRunChanged({ state, touched }: StepContext, id: RunId): void {
  for (const dependent of state.dependents.get(id) ?? []) {
    const run = state.runs.get(dependent);
    if (run === undefined) continue;
    requeue(state, run);
    touched.add(dependent);
  }
}

/**
 * Whether the group will get a further run without a request, now or when there is room. The runs of such a group are not all known
 * from the start: each further one is proposed when there is room for it and no known run of the group waits for room or for a user.
 */
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
