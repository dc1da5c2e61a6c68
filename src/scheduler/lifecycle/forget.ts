import type { GroupId, RunId } from '../../base/ids.js';
import { leaveQueue } from '../queue/queues.js';
import type { SchedulerState } from '../state.js';
import type { StepContext } from '../step-context.js';

/** Drops a sweep from memory, with all that was learned from it. Refused by silence while one of its runs holds a slot. */
export function forget({ state, touched }: StepContext, sweep: string): void {
  const ids = state.sweeps.get(sweep);
  if (ids === undefined || [...ids].some((id) => state.active.has(id))) return;
  state.intakes.splice(0, Infinity, ...state.intakes.filter(({ submission }) => submission.sweep !== sweep));
  for (const id of ids) touched.add(id);
  // The last first: to take the first out of a queue fifty thousand times would be to sort all the others as often.
  for (const id of [...ids].reverse()) dropRun(state, id);
  for (const id of [...state.groups.keys()]) if (isOf(id, sweep)) state.groups.delete(id);
  state.sweeps.delete(sweep);
}

function dropRun(state: SchedulerState, id: RunId): void {
  leaveQueue(state, id);
  state.deadlines.delete(id);
  state.runs.delete(id);
}

/** A group belongs to the sweep its id begins with, and nothing outside the sweep can need it. */
function isOf(group: GroupId, sweep: string): boolean {
  return group.startsWith(`${sweep}/`);
}
