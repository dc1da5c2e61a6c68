import type { RunId } from '../../base/ids.js';
import { demandOf, isPossibleLater } from '../placement/placement.js';
import { isActive, isInBackoff, type Run } from '../run-state.js';
import type { SchedulerState } from '../state.js';

/**
 * Whether none of these runs is up, and none will be unless a user acts: the rest is held, needs what failed,
 * or wants a machine that this is not. While runs are being taken in, it is not known. Ask it of all runs of a sweep, because what they need is there.
 */
export function isIdle(state: SchedulerState, ids: Iterable<RunId>): boolean {
  if (state.intakes.length > 0) return false;
  for (const id of ids) if (canMove(state, state.runs.get(id)!)) return false;
  return true;
}

function canMove(state: SchedulerState, run: Run): boolean {
  if (isActive(run.state)) return true;
  if (run.state.phase === 'ended' || run.hold !== null) return false;
  return isInBackoff(run.state) || (state.queued.has(run.id) && isPossibleLater(state, demandOf(state, run)));
}
