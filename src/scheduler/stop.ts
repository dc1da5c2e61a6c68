import type { RunId } from '../base/ids.js';
import type { Outcome } from '../base/outcome.js';
import { move } from './move.js';
import type { Run, RunState, StopCause } from './run-state.js';
import type { Turn } from './turn.js';

/** Ends a run: politely if it is up, at once if it waits, as soon as it is up if it is starting. Twice is once. */
export function stop(turn: Turn, run: Run, cause: StopCause): void {
  const { at } = turn;
  const was = run.state;
  switch (was.phase) {
    case 'waiting':
      return move(turn, run, { phase: 'ended', outcome: { kind: 'killed' }, since: null, at });
    case 'starting':
      return move(turn, run, { ...was, stop: was.stop ?? cause });
    case 'running':
      move(turn, run, { ...was, phase: 'stopping', stop: cause, killAt: at + run.graceMs });
      turn.actions.push({ type: 'terminate', id: run.id, attempt: run.attempt });
      return;
    default: // Already on its way out, or gone.
  }
}

/** Kills every run that was asked to end and used up its time. */
export function killOverdue(turn: Turn): void {
  for (const id of [...turn.state.stopping]) {
    const run = turn.state.runs.get(id)!;
    if (run.state.phase !== 'stopping' || run.state.killAt > turn.at) continue;
    const { slot, pid, since, stop: cause } = run.state;
    move(turn, run, { phase: 'killing', slot, pid, since, stop: cause });
    turn.actions.push({ type: 'kill', id, attempt: run.attempt });
  }
}

/** What an ending means: whoever was asked to stop was stopped, however the process took it. */
export function verdict(was: RunState, outcome: Outcome): Outcome {
  const cause = 'stop' in was ? was.stop : null;
  if (cause === null) return outcome;
  return cause.kind === 'rule' ? { kind: 'done', rule: cause.rule } : { kind: 'killed' };
}

/** When `time-passed` is next of use, Unix ms; null while no run is being stopped. */
export function nextDeadline(runs: ReadonlyMap<RunId, Run>, stopping: ReadonlySet<RunId>): number | null {
  let next: number | null = null;
  for (const id of stopping) {
    const was = runs.get(id)?.state;
    if (was?.phase === 'stopping') next = Math.min(next ?? was.killAt, was.killAt);
  }
  return next;
}
