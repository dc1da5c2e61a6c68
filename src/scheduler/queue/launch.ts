import type { GpuIndex } from '../../base/ids.js';
import type { StepContext } from '../action.js';
import { move } from '../lifecycle/move.js';
import { type Demand, demandOf, freeSlot, isPossibleNow, usableGpus } from '../placement/placement.js';
import type { Slot } from '../placement/slot.js';
import type { Run } from '../run-state.js';
import type { SchedulerState } from '../state.js';
import { isTooEarly } from '../start/group-start.js';
import { isBefore } from './queues.js';

/**
 * Gives free slots to waiting runs: the highest priority first, then the oldest.
 *
 * A later run never takes the GPUs or cores for which an earlier one waits: they are kept for it, so it cannot starve. A run that
 * could not start even if no other run of this supervisor were up is passed over, as keeping room would not help it. Nothing is
 * launched while runs are still being added: the first one in order may be among those.
 */
export function launchWaiting(turn: StepContext): void {
  if (turn.state.intakes.length > 0) return;
  for (let next = nextLaunch(turn.state); next !== null; next = nextLaunch(turn.state)) {
    const { run, slot } = next;
    const resumed = run.starts > 0;
    run.attempt += 1;
    move(turn, run, { phase: 'starting', slot, stop: null });
    turn.actions.push({ type: 'launch', id: run.id, attempt: run.attempt, slot, resumed });
  }
}

/** The first run in line for which there is room that is not kept for an earlier one. */
function nextLaunch(state: SchedulerState): { run: Run; slot: Slot } | null {
  const kept = { gpus: new Set<GpuIndex>(), cores: 0 };
  for (const run of line(state)) {
    const demand = demandOf(state, run);
    const slot = freeSlot(state, demand, kept);
    if (slot !== null) return { run, slot };
    kept.cores += demand.cores;
    if (demand.gpus > 0) for (const { index } of usableGpus(state, demand)) kept.gpus.add(index);
  }
  return null;
}

/** The first run of each queue that could start now if it were alone, in the order of their turns. */
function line(state: SchedulerState): Run[] {
  const heads = openHeads(state).filter((run) => isPossibleNow(state, demandOf(state, run)));
  return heads.sort((a, b) => (isBefore(a, b) ? -1 : 1));
}

/** The first earlier run in line that waits for what this one needs; null: none does. */
export function firstBefore(state: SchedulerState, run: Run): Run | null {
  const demand = demandOf(state, run);
  let first: Run | null = null;
  for (const head of openHeads(state)) {
    if (!isBefore(head, first ?? run)) continue;
    const other = demandOf(state, head);
    if (isRivalry(demand, other) && isPossibleNow(state, other)) first = head;
  }
  return first;
}

function isRivalry(a: Demand, b: Demand): boolean {
  if (a.cores > 0 && b.cores > 0) return true;
  const isOnGpus = a.gpus > 0 && b.gpus > 0;
  return isOnGpus && (a.within === null || b.within === null || a.within.some((index) => b.within!.includes(index)));
}

/** The first run of each queue whose runs need not wait for their start time. */
function openHeads(state: SchedulerState): Run[] {
  return queueHeads(state).filter((run) => !isTooEarly(state, run));
}

/** The first run of each queue. */
export function queueHeads({ queues, runs }: SchedulerState): Run[] {
  const heads: Run[] = [];
  for (const queue of queues.values()) heads.push(runs.get(queue.first()!)!);
  return heads;
}
