import type { GroupId } from '../base/ids.js';
import { ReadyQueue } from './ready-queue.js';
import type { Run } from './run-state.js';
import type { Need } from './slot.js';
import type { Group, SchedulerState } from './state.js';

/** The group of that name, made on first mention: a group may be needed before its own runs are known. */
export function groupOf(state: SchedulerState, id: GroupId): Group {
  const known = state.groups.get(id);
  if (known !== undefined) return known;
  const group: Group = {
    id,
    needs: [],
    neededBy: new Set(),
    runs: new Set(),
    waiting: new Set(),
    done: new Set(),
    broken: new Set(),
    ready: true,
  };
  state.groups.set(id, group);
  return group;
}

/** Says what a group waits for, and looks at once whether that is already there. */
export function setNeeds(state: SchedulerState, id: GroupId, needs: readonly GroupId[]): void {
  const group = groupOf(state, id);
  for (const needed of group.needs) state.groups.get(needed)?.neededBy.delete(id);
  group.needs = needs;
  for (const needed of needs) groupOf(state, needed).neededBy.add(id);
  refreshReadiness(state, group);
}

/** To be called when a run of this group became done, or is no longer: those who need the group may start, or must wait. */
export function completionChanged(state: SchedulerState, group: Group): void {
  for (const id of group.neededBy) refreshReadiness(state, groupOf(state, id));
}

/** A group without runs has nothing left to do. */
export function isComplete(group: Group): boolean {
  return group.done.size === group.runs.size;
}

/** The first group that this one still waits for. */
export function unmetNeed(state: SchedulerState, group: Group): Group | null {
  for (const id of group.needs) {
    const needed = groupOf(state, id);
    if (!isComplete(needed)) return needed;
  }
  return null;
}

/** Puts a waiting run where it can be found once there is room. */
export function enqueue(state: SchedulerState, run: Run): void {
  const key = queueKey(run.need);
  const queue = state.queues.get(key) ?? new ReadyQueue();
  state.queues.set(key, queue);
  queue.add(run.id, run.order);
}

function queueKey({ gpus, perGpu }: Need): string {
  return gpus === 0 ? 'cpu' : `${gpus}/${perGpu}`;
}

function refreshReadiness(state: SchedulerState, group: Group): void {
  const ready = unmetNeed(state, group) === null;
  if (ready === group.ready) return;
  group.ready = ready;
  if (ready) for (const id of group.waiting) enqueue(state, state.runs.get(id)!);
}
