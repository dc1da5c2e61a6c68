import type { StepContext } from '../action.js';
import type { EventOf } from '../event.js';
import type { Run } from '../run-state.js';
import type { SchedulerState } from '../state.js';
import { due } from './deadlines.js';
import { move } from './move.js';
import { kill, stop } from './stop.js';
import { takeIn } from './submit.js';

/** Does what is due by now, in the order in which it became due, and takes in some more of the runs that were submitted. */
export function passTime(turn: StepContext): void {
  takeIn(turn);
  for (let run = due(turn.state, turn.at); run !== null; run = due(turn.state, turn.at)) reach(turn, run);
}

/** What has a deadline is changed by it, so that it is never met twice. */
function reach(turn: StepContext, run: Run): void {
  const { state } = run;
  if (state.phase === 'waiting') move(turn, run, { ...state, notBefore: null });
  else if (state.phase === 'running') stop(turn, run, { kind: 'timeout', seconds: run.timeoutMs! / 1000 });
  else if (state.phase === 'stopping') kill(turn, run, state);
}

/** Remembers how the clocks stood; nothing follows from it here. */
export function noteClock({ boots }: SchedulerState, { at, bootId, bootMs, wallMs }: EventOf<'clock-read'>): void {
  const last = boots.at(-1);
  const wallAhead = wallMs - at;
  if (last?.bootId === bootId && last.bootMs <= bootMs) boots[boots.length - 1] = { ...last, wallAhead };
  else boots.push({ bootId, from: at, bootMs, wallAhead });
}
