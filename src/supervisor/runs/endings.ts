import { after } from '../../base/eventually.js';
import type { RunId } from '../../base/ids.js';
import type { Ending, LeakedProcess } from '../../executors/executor.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { EventLoop } from '../core/event-loop.js';
import type { GpuWatch } from '../gpus/gpu-watch.js';
import type { AskDone } from './done-commands.js';
import { type CompletionOf, outcomeOf } from './exit-classification.js';
import type { PlannedRuns } from './planned-runs.js';
import type { Shortage } from './shortage.js';
import { leakedProcessWords, type Warnings } from './warnings.js';
import type { Watcher } from './watcher.js';

type EndingTools = {
  state: SchedulerState;
  plannedRuns: PlannedRuns;
  completionOf: CompletionOf;
  askDone: AskDone;
  loop: Pick<EventLoop, 'tell'>;
  gpus: Pick<GpuWatch, 'ended'>;
  watcher: Pick<Watcher, 'catchUp'>;
  warnings: Warnings;
  shortage: Shortage;
  now: () => number;
};

/** Hears of the ends of attempts from the executor, and tells what they mean, as events. */
export class Endings {
  readonly #tools: EndingTools;

  constructor(tools: EndingTools) {
    this.#tools = tools;
  }

  /** `leaked`: processes of the run that are still there. */
  ended(id: RunId, attempt: number, ending: Ending, leaked: readonly LeakedProcess[]): void {
    const { state, plannedRuns, completionOf, askDone, loop, gpus, watcher, warnings, shortage, now } = this.#tools;
    const plan = plannedRuns.of(id);
    if (plan === null) return;
    const wasKilled = state.runs.get(id)?.state.phase === 'killing';
    const gpuMemory = gpus.ended(id);
    if (ending.kind === 'not-run') shortage.note(ending.shortage);
    const tellEnd = () =>
      withEnd({ id, attempt, plan, ending }, { completionOf, askDone, now }, (event) => {
        loop.tell(event.type === 'run-ended' && gpuMemory !== null ? { ...event, gpuMemory } : event);
        warnings.set(id, 'processes', leakedProcessWords(leaked, wasKilled));
      });
    // Its last row may say that its siblings need not start in its place.
    if (plan.objective?.target === undefined) tellEnd();
    else watcher.catchUp(plan, attempt, tellEnd);
  }

  /** A run that nobody can reach may still be running: it is taken for ended only because a person says so. */
  mayGiveUp(id: RunId): boolean {
    const state = this.#tools.state.runs.get(id)?.state;
    return state?.phase === 'killing' && state.stop.kind === 'asked';
  }
}

/** An attempt that has ended, how, and how long ago, ms. */
type EndedAttempt = { id: RunId; attempt: number; plan: PlannedRun; ending: Ending; agoMs?: number | undefined };

/** Tells the end of an attempt, as an event, as soon as it is known what it means; one that never began is taken back. */
export function withEnd(
  { id, attempt, plan, ending, agoMs }: EndedAttempt,
  { now, ...judges }: Pick<EndingTools, 'completionOf' | 'askDone' | 'now'>,
  tell: (event: SchedulerEvent) => void,
): void {
  if (ending.kind === 'not-claimed' || ending.kind === 'not-run') {
    return tell({ type: 'launch-withdrawn', at: now(), id, attempt });
  }
  void after(outcomeOf(plan, ending, judges), (outcome) =>
    tell({ type: 'run-ended', at: now(), id, attempt, outcome, ...(agoMs === undefined ? {} : { agoMs }) }),
  );
}
