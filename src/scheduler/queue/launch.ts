import type { StepContext } from '../action.js';
import { move } from '../lifecycle/move.js';
import { demandOf, freeSlot, isPossibleNow } from '../placement/placement.js';
import type { Run } from '../run-state.js';
import type { SchedulerState } from '../state.js';
import { isBefore } from './queues.js';

/**
 * Gives free slots to waiting runs: the highest priority first, then the oldest.
 *
 * CPU and GPU slots are separate counters with a queue each. The first run for GPUs is never overtaken by one behind it
 * that needs less, so it cannot starve; only a run that could not start even if no other run of ours were up is passed by,
 * as keeping room for it would not help it. Nothing is launched while runs are still being taken in: the first of them all
 * may be among those.
 */
export function launchWaiting(turn: StepContext): void {
  if (turn.state.intakes.length > 0) return;
  for (const isOnGpu of [false, true]) {
    for (let run = firstInLine(turn.state, isOnGpu); run !== null; run = firstInLine(turn.state, isOnGpu)) {
      const slot = freeSlot(turn.state, demandOf(turn.state, run));
      if (slot === null) break;
      const resumed = run.starts > 0;
      run.attempt += 1;
      move(turn, run, { phase: 'starting', slot, stop: null });
      turn.actions.push({ type: 'launch', id: run.id, attempt: run.attempt, slot, resumed });
    }
  }
}

/** The run whose turn it is on the CPU slots or on the GPUs; null: none that could start now. */
export function firstInLine(state: SchedulerState, isOnGpu: boolean): Run | null {
  let first: Run | null = null;
  for (const run of queueHeads(state)) {
    if (run.need.gpus > 0 !== isOnGpu || (first !== null && isBefore(first, run))) continue;
    if (isPossibleNow(state, demandOf(state, run))) first = run;
  }
  return first;
}

/** The first run of each queue. */
export function queueHeads({ queues, runs }: SchedulerState): Run[] {
  const heads: Run[] = [];
  for (const queue of queues.values()) heads.push(runs.get(queue.first()!)!);
  return heads;
}
