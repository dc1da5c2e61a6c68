import { move } from './move.js';
import type { Run } from '../run-state.js';
import type { StepContext } from '../step-context.js';

/** Makes a running run stand still. It keeps its slot; its timeout stands still too. One that is not up is left alone. */
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
