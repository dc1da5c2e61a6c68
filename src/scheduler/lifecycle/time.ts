import { due } from './deadlines.js';
import { move } from './move.js';
import type { Run } from '../run-state.js';
import { kill, stop } from './stop.js';
import { takeIn } from './submit.js';
import type { StepContext } from '../step-context.js';

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
