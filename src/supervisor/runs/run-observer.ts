import type { RunId } from '../../base/ids.js';
import type { Outcome } from '../../base/outcome.js';
import type { Run } from '../../scheduler/run-state.js';
import { slotName } from '../../scheduler/placement/slot.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { Records } from './records.js';
import type { Watcher } from './watcher.js';

/** How the last attempt ended, whether the run ended with it or waits to be tried again by itself. */
type End = { outcome: Outcome; since: number | null; at: number };

/** `began`: told once of each attempt that is up, also of those that were up before. `shown`: the wall clock at a time of the line. */
type FollowUpTools = { began: (run: Run, planned: PlannedRun) => void; shown: (at: number) => number };

/** Keeps records and watches in step with what the scheduler says of each run. Saying the same twice changes nothing. */
export class RunObserver {
  readonly #records: Records;
  readonly #watcher: Watcher;
  readonly #tools: FollowUpTools;
  /** The attempt of each run that is being followed. */
  readonly #followed = new Map<RunId, number>();

  constructor(records: Records, watcher: Watcher, tools: FollowUpTools) {
    this.#records = records;
    this.#watcher = watcher;
    this.#tools = tools;
  }

  /** To be called whenever the run's state may have changed. */
  follow(run: Run, planned: PlannedRun): void {
    const { id, attempt, state } = run;
    if ('pid' in state && this.#followed.get(id) !== attempt) {
      this.#followed.set(id, attempt);
      const startedAt = this.#tools.shown(state.since);
      this.#records.started(planned, { number: attempt, slot: slotName(state.slot), startedAt });
      this.#watcher.watch(planned, attempt, state.since);
      this.#tools.began(run, planned);
    }
    const end = endOf(run);
    if (end !== null) this.#conclude(planned, end);
    else if (!('pid' in state)) this.#retract(planned);
  }

  /** It was not up after all, and has another attempt before it. */
  #retract(planned: PlannedRun): void {
    const number = this.#followed.get(planned.id);
    if (number === undefined) return;
    this.#followed.delete(planned.id);
    this.#watcher.finish(planned);
    this.#records.retracted(planned, number);
  }

  #conclude(planned: PlannedRun, { outcome, since, at }: End): void {
    const number = this.#followed.get(planned.id);
    if (number === undefined) {
      // It ended before we were there, or never was up: all there can be is an old file.
      this.#watcher.recall([planned]);
      return;
    }
    this.#followed.delete(planned.id);
    this.#watcher.finish(planned);
    // Also when it began: the wall clock may have been set right meanwhile.
    const { shown } = this.#tools;
    const startedAt = since === null ? {} : { startedAt: shown(since) };
    this.#records.ended(planned, { number, ...startedAt, endedAt: shown(at), outcome });
  }
}

function endOf({ state }: Run): End | null {
  if (state.phase === 'ended') return state;
  return state.phase === 'waiting' ? state.last : null;
}
