import type { RunId } from '../base/ids.js';
import type { EventOf, SubmittedRun } from './event.js';
import { groupOf, setNeeds } from './groups.js';
import { move } from './move.js';
import { isActive, type Run } from './run-state.js';
import type { Turn } from './turn.js';

type Submission = EventOf<'runs-submitted'>;

/** New runs are added, ended ones that are wanted again go back to the queue, living ones are left alone. */
export function submit(turn: Turn, { sweep, plan, groups, runs }: Submission): void {
  const taken = runs.map((submitted) => ({ submitted, run: known(turn, sweep, plan, submitted) }));
  // Only now, when every group knows its runs: an empty group would look complete.
  for (const { id, needs } of groups) setNeeds(turn.state, id, needs);
  for (const { run, submitted } of taken) take(turn, run, plan, submitted);
}

/** Drops a sweep from memory. Refused by silence while one of its runs holds a slot. */
export function forget({ state, touched }: Turn, sweep: string): void {
  const ids = state.sweeps.get(sweep);
  if (ids === undefined || [...ids].some((id) => state.active.has(id))) return;
  for (const id of ids) {
    state.groups.delete(state.runs.get(id)!.group);
    state.runs.delete(id);
    touched.add(id);
  }
  state.sweeps.delete(sweep);
}

function take(turn: Turn, run: Run, plan: string, { need, graceMs, wish, attempts }: SubmittedRun): void {
  if (isActive(run.state) || run.attempt > attempts) return;
  Object.assign(run, { plan, need, graceMs, attempt: attempts });
  if (wish === 'done') move(turn, run, { phase: 'ended', outcome: { kind: 'done' }, ...pastOf(run, turn.at) });
  else if (wish === 'run' || run.state.phase === 'waiting') move(turn, run, { phase: 'waiting' });
}

/** When a run that is found done ended: as far as it is known. */
function pastOf({ state }: Run, at: number): { since: number | null; at: number } {
  return state.phase === 'ended' ? { since: state.since, at: state.at } : { since: null, at };
}

/** The run of that id; a new one waits, but in no queue yet. */
function known({ state }: Turn, sweep: string, plan: string, submitted: SubmittedRun): Run {
  const { id, group, need, graceMs, attempts } = submitted;
  const old = state.runs.get(id);
  if (old !== undefined) return old;
  const order = state.nextOrder++;
  const run: Run = {
    ...{ id, sweep, group, order, need, graceMs, plan, attempt: attempts, starts: attempts },
    state: { phase: 'waiting' },
  };
  state.runs.set(id, run);
  groupOf(state, group).runs.add(id);
  const ids = state.sweeps.get(sweep) ?? new Set<RunId>();
  state.sweeps.set(sweep, ids.add(id));
  return run;
}
