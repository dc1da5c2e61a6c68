import type { RunId } from '../../base/ids.js';
import type { StepContext } from '../action.js';
import type { Run } from '../run-state.js';
import type { SchedulerState } from '../state.js';
import { requeue } from './queues.js';

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
