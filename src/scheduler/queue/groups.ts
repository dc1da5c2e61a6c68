import type { GroupId, RunId } from '../../base/ids.js';
import { requeue } from './queues.js';
import type { Group, SchedulerState } from '../state.js';

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
