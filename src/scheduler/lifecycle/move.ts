import type { StepContext } from '../action.js';
import { demandOf, occupy, vacate } from '../placement/placement.js';
import type { Slot } from '../placement/slot.js';
import { completionChanged, groupOf } from '../queue/groups.js';
import { neededRunChanged } from '../queue/needed-runs.js';
import { requeue } from '../queue/queues.js';
import { isActive, type Run, type RunState } from '../run-state.js';
import type { Group, SchedulerState } from '../state.js';
import { setDeadline } from './deadlines.js';

/** Moves one run to its next state and keeps every index correct. The only place where a run's state is written. */
export function move(turn: StepContext, run: Run, next: RunState): void {
  const { state, touched } = turn;
  const group = groupOf(state, run.group);
  const done = group.done.size;
  const hadEnded = run.state.phase === 'ended';
  if (isActive(run.state) && slotOf(next) !== run.state.slot) vacate(state, run.id, run.state.slot);
  run.state = next;
  if (next.phase !== 'waiting') run.hold = null;
  file(state, run, group);
  touched.add(run.id);
  if (next.phase === 'waiting' || group.done.size !== done) completionChanged(state, group);
  if (hadEnded || next.phase === 'ended') neededRunChanged(turn, run.id);
}

/** Changes properties that a run has in any state. */
export function amend(
  { state, touched }: StepContext,
  run: Run,
  facts: Partial<Pick<Run, 'hold' | 'early' | 'priority' | 'order' | 'place'>>,
): void {
  Object.assign(run, facts);
  touched.add(run.id);
  index(state, run);
}

/** Enters a run into every index by its present state. */
export function file(state: SchedulerState, run: Run, group: Group): void {
  const { id, state: now } = run;
  if (isActive(now)) occupy(state, id, now.slot, demandOf(state, run));
  mark(state.active, id, isActive(now));
  mark(group.waiting, id, now.phase === 'waiting');
  mark(group.done, id, now.phase === 'ended' && now.outcome.kind === 'done');
  mark(group.broken, id, now.phase === 'ended' && now.outcome.kind !== 'done');
  index(state, run);
}

function index(state: SchedulerState, run: Run): void {
  setDeadline(state, run);
  requeue(state, run);
}

function slotOf(next: RunState): Slot | null {
  return isActive(next) ? next.slot : null;
}

function mark<Id>(set: Set<Id>, id: Id, belongs: boolean): void {
  if (belongs) set.add(id);
  else set.delete(id);
}
