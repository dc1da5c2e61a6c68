import type { StepContext } from '../action.js';
import { groupOf } from '../queue/groups.js';
import { isTooEarly } from '../start/group-start.js';
import type { Run } from '../run-state.js';
import { amend, move } from './move.js';

/** Keeps a waiting run from starting until a user releases it. A run that is up is left alone. */
export function hold(turn: StepContext, run: Run): void {
  if (run.state.phase === 'waiting' && run.hold?.by !== 'person') amend(turn, run, { hold: { by: 'person' } });
}

/** Keeps a waiting run from starting because a run of its group met its target; a user may release it. */
export function holdForTarget(turn: StepContext, run: Run, reason: string): void {
  if (run.state.phase === 'waiting' && run.hold === null) amend(turn, run, { hold: { by: 'target', reason } });
}

/** Keeps a waiting run from starting because of the failures of its group. */
export function holdForBreaker(turn: StepContext, run: Run, reason: string, values: string | null): void {
  if (run.state.phase !== 'waiting' || (run.hold !== null && run.hold.by !== 'breaker')) return;
  amend(turn, run, { hold: { by: 'breaker', reason, ...(values === null ? {} : { values }) } });
}

/** Lets a held run start, whoever held it; one that is not held, before its start time. */
export function release(turn: StepContext, run: Run): void {
  if (run.hold === null) {
    if (run.state.phase === 'waiting' && isTooEarly(turn.state, run)) amend(turn, run, { early: true });
    return;
  }
  amend(turn, run, { hold: null });
  trustAgain(turn, run);
}

/** Releases a run that the breaker holds, as a user wants it to start. */
export function liftBreaker(turn: StepContext, run: Run): void {
  if (run.hold?.by === 'breaker') release(turn, run);
}

/** Resets the failures of a run's group and reopens it, because a user has acted on it. */
export function trustAgain({ state }: StepContext, run: Run): void {
  const group = groupOf(state, run.group);
  group.quickFailures.clear();
  if (group.open?.closed?.by === 'breaker') group.open = { ...group.open, closed: null };
}

/** Changes a run's priority in the queue; for a run that is up, in the queue after its end. */
export function setPriority(turn: StepContext, run: Run, priority: number): void {
  if (run.priority !== priority) amend(turn, run, { priority });
}

/** Pauses a running run. `by`: the end of its window asks for it, not a user. It keeps its slot; its timeout is paused too. A run that is not up is left alone. */
export function pause(turn: StepContext, run: Run, by?: 'window'): void {
  const { state, id, attempt } = run;
  if (state.phase !== 'running' || state.pausedAt !== null) return;
  move(turn, run, { ...state, pausedAt: turn.at, ...(by === undefined ? {} : { pausedBy: by }) });
  turn.actions.push({ type: 'pause', id, attempt });
}

/** Continues a paused run. */
export function continueRun(turn: StepContext, run: Run): void {
  const { state, id, attempt } = run;
  if (state.phase !== 'running' || state.pausedAt === null) return;
  const { phase, slot, pid, since } = state;
  const pausedMs = state.pausedMs + Math.max(0, turn.at - state.pausedAt);
  move(turn, run, { phase, slot, pid, since, pausedAt: null, pausedMs });
  turn.actions.push({ type: 'continue', id, attempt });
}
