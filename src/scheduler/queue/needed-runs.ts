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
