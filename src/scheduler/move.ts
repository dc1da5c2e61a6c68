import { completionChanged, enqueue, groupOf } from './groups.js';
import { hold, release } from './placement.js';
import { isActive, type Run, type RunState } from './run-state.js';
import type { Group } from './state.js';
import type { Turn } from './turn.js';

/** Moves one run to its next state and keeps every index true. The only place where a run's state is written. */
export function move({ state, touched }: Turn, run: Run, next: RunState): void {
  const group = groupOf(state, run.group);
  leave(run, group);
  if (isActive(run.state) && !isActive(next)) release(state, run.id, run.state.slot);
  if (!isActive(run.state) && isActive(next)) hold(state, run.id, next.slot, run.need);
  run.state = next;
  mark(state.active, run, isActive(next));
  mark(state.stopping, run, next.phase === 'stopping');
  touched.add(run.id);
  const done = group.done.size;
  enter(run, group);
  if (next.phase === 'waiting' && group.ready) enqueue(state, run);
  if (next.phase === 'waiting' || group.done.size !== done) completionChanged(state, group);
}

function leave({ id }: Run, group: Group): void {
  group.waiting.delete(id);
  group.done.delete(id);
  group.broken.delete(id);
}

function enter({ id, state }: Run, group: Group): void {
  if (state.phase === 'waiting') group.waiting.add(id);
  if (state.phase === 'ended') (state.outcome.kind === 'done' ? group.done : group.broken).add(id);
}

function mark<Id>(set: Set<Id>, { id }: { id: Id }, belongs: boolean): void {
  if (belongs) set.add(id);
  else set.delete(id);
}
