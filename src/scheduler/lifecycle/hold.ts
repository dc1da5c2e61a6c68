import type { StepContext } from '../action.js';
import { groupOf } from '../queue/groups.js';
import type { Run } from '../run-state.js';
import { amend, move } from './move.js';

/** Keeps a waiting run from starting until a person releases it. A run that is up is left alone. */
export function hold(turn: StepContext, run: Run): void {
  if (run.state.phase === 'waiting' && run.hold?.by !== 'person') amend(turn, run, { hold: { by: 'person' } });
}

/** Keeps a waiting run from starting because one of its group is good enough; a person may think otherwise. */
export function holdForTarget(turn: StepContext, run: Run, reason: string): void {
  if (run.state.phase === 'waiting' && run.hold === null) amend(turn, run, { hold: { by: 'target', reason } });
}

/** Lets a held run start, whoever held it. */
export function release(turn: StepContext, run: Run): void {
  if (run.hold === null) return;
  amend(turn, run, { hold: null });
  trustAgain(turn, run);
}

/** Lifts what the breaker did to a run: a person wants it to start. */
export function liftBreaker(turn: StepContext, run: Run): void {
  if (run.hold?.by === 'breaker') release(turn, run);
}

/** A person has had a look at the group: its failures are counted anew, and it may get further runs again. */
export function trustAgain({ state }: StepContext, run: Run): void {
  const group = groupOf(state, run.group);
  group.quickFailures.clear();
  if (group.open?.closed?.by === 'breaker') group.open = { ...group.open, closed: null };
}

/** Changes a run's place among those that wait; for a run that is up, its place when it waits again. */
export function setPriority(turn: StepContext, run: Run, priority: number): void {
  if (run.priority !== priority) amend(turn, run, { priority });
}

/** Pauses a running run. It keeps its slot; its timeout is paused too. One that is not up is left alone. */
export function pause(turn: StepContext, run: Run): void {
  const { state, id, attempt } = run;
  if (state.phase !== 'running' || state.pausedAt !== null) return;
  move(turn, run, { ...state, pausedAt: turn.at });
  turn.actions.push({ type: 'pause', id, attempt });
}

/** Lets a paused run go on. */
export function goOn(turn: StepContext, run: Run): void {
  const { state, id, attempt } = run;
  if (state.phase !== 'running' || state.pausedAt === null) return;
  const pausedMs = state.pausedMs + Math.max(0, turn.at - state.pausedAt);
  move(turn, run, { ...state, pausedAt: null, pausedMs });
  turn.actions.push({ type: 'continue', id, attempt });
}
