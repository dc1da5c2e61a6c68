import type { Ack, Fleet, RunSummary } from '../client/fleet.js';
import { runVerbs, suits, takesPriority, type RunVerb } from '../protocol/run-verbs.js';

/** Something to do to runs. */
export type RunAct = {
  readonly verb: RunVerb | 'priority';
  /** Whether it ends runs, makes them stand still or keeps them from starting. */
  readonly disturbs: boolean;
  /** Whether it makes sense for this run. The supervisor has the last word: the run may have moved on. */
  readonly fits: (run: RunSummary) => boolean;
  readonly ask: (fleet: Fleet, ids: readonly RunSummary['id'][]) => Promise<Ack>;
};

const disturbing: readonly RunVerb[] = ['kill', 'hold', 'pause'];

export const runActs = Object.fromEntries(runVerbs.map((verb) => [verb, actOf(verb)])) as Readonly<
  Record<RunVerb, RunAct>
>;

export function priorityAct(priority: number): RunAct {
  const fits = (run: RunSummary) => takesPriority(run, priority);
  return { verb: 'priority', disturbs: false, fits, ask: (fleet, ids) => fleet.priority(ids, priority) };
}

function actOf(verb: RunVerb): RunAct {
  return { verb, disturbs: disturbing.includes(verb), fits: suits[verb], ask: (fleet, ids) => fleet[verb](ids) };
}
