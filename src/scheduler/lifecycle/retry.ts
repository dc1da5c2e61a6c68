import { failureClass, type Outcome } from '../../base/outcome.js';
import type { StepContext } from '../action.js';
import type { Slot } from '../placement/slot.js';
import { type Ending, inLine, isInBackoff, type Run } from '../run-state.js';
import { liftBreaker, trustAgain } from './hold.js';
import { move } from './move.js';

/** Upper limit of the doubling backoff, ms. */
const LONGEST_BACKOFF = 3_600_000;

/** Whether the run is retried automatically after this outcome. */
export function isRetried({ retry, retried }: Run, outcome: Outcome): boolean {
  const failure = failureClass(outcome);
  return failure !== null && retried < retry.max && retry.on.includes(failure);
}

/** Puts a failed run back in the queue after its backoff. `slot`: its last slot. */
export function retryLater(turn: StepContext, run: Run, ending: Ending, slot: Slot | null): void {
  const wait = backoffMs(run);
  run.retried += 1;
  if (ending.outcome.kind === 'oom' && slot?.kind === 'gpu' && run.need.perGpu > 1) run.alone = true;
  move(turn, run, { ...inLine, notBefore: wait === 0 ? null : ending.at + wait, last: ending });
}

/**
 * Puts an ended run back in the queue, and lets one that waits for a retry or is held by the breaker start at once. Its automatic
 * retries are counted from zero.
 */
export function resume(turn: StepContext, run: Run): void {
  const { state } = run;
  if (state.phase === 'ended') return requeueByHand(turn, run);
  if (state.phase !== 'waiting') return;
  run.retried = 0;
  if (isInBackoff(state)) move(turn, run, { ...state, notBefore: null });
  liftBreaker(turn, run);
}

/** Puts an ended run back in the queue at a user's request. */
function requeueByHand(turn: StepContext, run: Run): void {
  run.retried = 0;
  trustAgain(turn, run);
  move(turn, run, inLine);
}

function backoffMs({ retry, retried }: Run): number {
  return Math.max(retry.backoffMs, Math.min(LONGEST_BACKOFF, retry.backoffMs * 2 ** retried));
}
