import type { RunId } from '../base/ids.js';
import type { Ending } from '../executors/local/ending.js';
import type { LocalExecutor } from '../executors/local/local-executor.js';
import type { SchedulerEvent } from '../scheduler/event.js';
import type { ActiveState, Run } from '../scheduler/run-state.js';
import type { SchedulerState } from '../scheduler/state.js';
import { step } from '../scheduler/step.js';
import type { PlannedRun } from '../spec/planned-run.js';
import { type Judge, outcomeOf } from './judgement.js';

/** Ended runs whose record may not have been written when the supervisor died. */
const UNSURE = 200;

/** Plays the journal. The actions are not taken: they were, or `reconcile` finds that they were not. */
export function replay(state: SchedulerState, events: readonly SchedulerEvent[]): { lately: RunId[] } {
  const ended: RunId[] = [];
  for (const event of events) {
    step(state, event);
    if (event.type === 'run-ended') ended.push(event.id);
  }
  return { lately: ended.slice(-UNSURE) };
}

export type ReconcileTools = {
  executor: LocalExecutor;
  planned: (run: Run) => PlannedRun;
  judge: Judge;
  tell: (event: SchedulerEvent) => void;
  now: () => number;
};

/**
 * Finds out what became of the runs that held a slot when the last supervisor died, and tells it as events: the living are
 * adopted, the codes of the dead are read, and those that had not begun are taken back to the queue for good.
 */
export function reconcile(state: SchedulerState, tools: ReconcileTools): void {
  for (const id of [...state.active]) {
    const run = state.runs.get(id)!;
    reconcileRun(run, run.state as ActiveState, tools);
  }
}

function reconcileRun(run: Run, was: ActiveState, { executor, planned, judge, tell, now }: ReconcileTools): void {
  const { id, attempt } = run;
  const plan = planned(run);
  const found = executor.adopt(id, plan.directory, attempt);
  if (found.kind === 'withdrawn') {
    if (was.phase === 'starting') tell({ type: 'launch-withdrawn', at: now(), id, attempt });
    else
      tell({ type: 'run-ended', at: now(), id, attempt, outcome: { kind: 'lost', reason: 'its directory is gone' } });
    return;
  }
  if (was.phase === 'starting') tell({ type: 'run-started', at: now(), id, attempt, pid: found.pid });
  if (found.kind === 'alive') askAgain(executor, id, was);
  else tell(endOf(run, plan, found.ending, { judge, now }));
}

/** The end of an attempt, as an event. */
export function endOf(
  { id, attempt }: Pick<Run, 'id' | 'attempt'>,
  plan: PlannedRun,
  ending: Ending,
  { judge, now }: Pick<ReconcileTools, 'judge' | 'now'>,
): SchedulerEvent {
  return { type: 'run-ended', at: now(), id, attempt, outcome: outcomeOf(plan, ending, judge) };
}

/** The last supervisor may have died between deciding to end a run and doing it. */
function askAgain(executor: LocalExecutor, id: RunId, { phase }: ActiveState): void {
  if (phase === 'stopping') executor.terminate(id);
  if (phase === 'killing') executor.kill(id);
}

/** Events that give a sweep up, whatever its runs were doing. */
export function forgetting(state: SchedulerState, sweep: string, at: number): SchedulerEvent[] {
  const active = [...(state.sweeps.get(sweep) ?? [])].filter((id) => state.active.has(id));
  const outcome = { kind: 'lost', reason: 'its command is no longer known' } as const;
  const ends = active.map((id) => {
    return { type: 'run-ended' as const, at, id, attempt: state.runs.get(id)!.attempt, outcome };
  });
  return [...ends, { type: 'sweep-forgotten', at, sweep }];
}
