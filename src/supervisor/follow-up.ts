import type { RunId } from '../base/ids.js';
import type { Outcome } from '../base/outcome.js';
import type { Run } from '../scheduler/run-state.js';
import { slotName } from '../scheduler/slot.js';
import type { PlannedRun } from '../spec/planned-run.js';
import type { Records } from './records.js';
import type { Watcher } from './watcher.js';

/** How the last attempt ended, whether the run ended with it or waits to be tried again by itself. */
type End = { outcome: Outcome; at: number };

/** Keeps records and watches in step with what the scheduler says of each run. Saying the same twice changes nothing. */
export class FollowUp {
  readonly #records: Records;
  readonly #watcher: Watcher;
  readonly #began: (run: Run, planned: PlannedRun) => void;
  /** The attempt of each run that is being followed. */
  readonly #followed = new Map<RunId, number>();

  /** @param began Told once of each attempt that is up, also of those that were up before. */
  constructor(records: Records, watcher: Watcher, began: (run: Run, planned: PlannedRun) => void) {
    this.#records = records;
    this.#watcher = watcher;
    this.#began = began;
  }

  /** To be called whenever the run's state may have changed. */
  follow(run: Run, planned: PlannedRun): void {
    const { id, attempt, state } = run;
    if ('pid' in state && this.#followed.get(id) !== attempt) {
      this.#followed.set(id, attempt);
      this.#records.started(planned, { number: attempt, slot: slotName(state.slot), startedAt: state.since });
      this.#watcher.watch(planned, attempt, state.since);
      this.#began(run, planned);
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

  #conclude(planned: PlannedRun, { outcome, at }: End): void {
    const number = this.#followed.get(planned.id);
    if (number === undefined) {
      // It ended before we were there, or never was up: all there can be is an old file.
      this.#watcher.recall([planned]);
      return;
    }
    this.#followed.delete(planned.id);
    this.#watcher.finish(planned);
    this.#records.ended(planned, { number, endedAt: at, outcome });
  }
}

function endOf({ state }: Run): End | null {
  if (state.phase === 'ended') return state;
  return state.phase === 'waiting' ? state.last : null;
}
