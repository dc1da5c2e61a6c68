import { groupOf } from './groups.js';
import { move } from './move.js';
import { freeSlot, isPossible } from './placement.js';
import type { Run } from './run-state.js';
import type { Slot } from './slot.js';
import type { SchedulerState } from './state.js';
import type { Turn } from './turn.js';

/**
 * Gives free slots to waiting runs, oldest first.
 *
 * CPU and GPU slots are separate counters with a queue each. The first run for GPUs is never
 * overtaken by a smaller one, so it cannot starve; only a run that could not start even on an
 * empty machine is passed by.
 */
export function launchWaiting(turn: Turn): void {
  for (let next = nextLaunch(turn.state); next !== null; next = nextLaunch(turn.state)) {
    const { run, slot } = next;
    const resumed = run.starts > 0;
    run.attempt += 1;
    move(turn, run, { phase: 'starting', slot, stop: null });
    turn.actions.push({ type: 'launch', id: run.id, attempt: run.attempt, slot, resumed });
  }
}

/** The first run of each queue, oldest first, without those that the machine could never start. */
export function queueHeads(state: SchedulerState): Run[] {
  const heads: Run[] = [];
  for (const queue of state.queues.values()) {
    const id = queue.peek((candidate) => {
      const run = state.runs.get(candidate);
      return run?.state.phase === 'waiting' && groupOf(state, run.group).ready;
    });
    if (id !== null) heads.push(state.runs.get(id)!);
  }
  return heads.filter((run) => isPossible(state, run.need)).sort((a, b) => a.order - b.order);
}

function nextLaunch(state: SchedulerState): { run: Run; slot: Slot } | null {
  const heads = queueHeads(state);
  const firsts = [heads.find(({ need }) => need.gpus === 0), heads.find(({ need }) => need.gpus > 0)];
  for (const run of firsts) {
    const slot = run === undefined ? null : freeSlot(state, run.need);
    if (run !== undefined && slot !== null) return { run, slot };
  }
  return null;
}
