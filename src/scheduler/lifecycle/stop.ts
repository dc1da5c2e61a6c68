import type { Outcome } from '../../base/outcome.js';
import type { StepContext } from '../action.js';
import type { Run, RunState, StopCause } from '../run-state.js';
import { move } from './move.js';

/**
 * Ends a run: with SIGTERM if it is up (paused or not), at once if it waits, and as soon as it is up if it is starting. A second
 * call changes nothing, except that a user's request replaces a timeout as the cause, as a run that a user ended is not retried.
 */
export function stop(turn: StepContext, run: Run, cause: StopCause): void {
  const { at } = turn;
  const was = run.state;
  switch (was.phase) {
    case 'waiting':
      return move(turn, run, { phase: 'ended', outcome: { kind: 'killed' }, since: null, at });
    case 'starting':
      return move(turn, run, { ...was, stop: was.stop ?? cause });
    case 'running': {
      const { slot, pid, since } = was;
      move(turn, run, { phase: 'stopping', slot, pid, since, stop: cause, killAt: at + run.graceMs });
      turn.actions.push({ type: 'terminate', id: run.id, attempt: run.attempt });
      return;
    }
    case 'ended':
      return;
    default: // On its way out.
      if (was.stop.kind === 'timeout' && cause.kind === 'asked') move(turn, run, { ...was, stop: cause });
  }
}

/** Sends SIGKILL to a run whose grace period is over. */
export function kill(turn: StepContext, run: Run, { slot, pid, since, stop: cause }: Stopping): void {
  move(turn, run, { phase: 'killing', slot, pid, since, stop: cause });
  turn.actions.push({ type: 'kill', id: run.id, attempt: run.attempt });
}

type Stopping = Extract<RunState, { phase: 'stopping' }>;

/** The outcome that counts: a run that was told to stop was stopped, whatever its exit code. */
export function countedOutcome(was: RunState, outcome: Outcome): Outcome {
  const cause = 'stop' in was ? was.stop : null;
  switch (cause?.kind) {
    case undefined:
      return outcome;
    case 'asked':
      return { kind: 'killed' };
    case 'rule':
      return { kind: 'done', rule: cause.rule };
    case 'timeout':
      return { kind: 'timeout', seconds: cause.seconds };
  }
}
