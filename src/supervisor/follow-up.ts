import type { RunId } from '../base/ids.js';
import type { Run } from '../scheduler/run-state.js';
import { slotName } from '../scheduler/slot.js';
import type { PlannedRun } from '../spec/planned-run.js';
import type { Records } from './records.js';
import type { Watcher } from './watcher.js';

/** Keeps records and watches in step with what the scheduler says of each run. Saying the same twice changes nothing. */
export class FollowUp {
  readonly #records: Records;
  readonly #watcher: Watcher;
  /** The attempt of each run that is being followed. */
  readonly #followed = new Map<RunId, number>();

  constructor(records: Records, watcher: Watcher) {
    this.#records = records;
    this.#watcher = watcher;
  }

  /** To be called whenever the run's state may have changed. */
  follow({ id, attempt, state }: Run, planned: PlannedRun): void {
    if ('pid' in state && this.#followed.get(id) !== attempt) {
      this.#followed.set(id, attempt);
      this.#records.started(planned, { number: attempt, slot: slotName(state.slot), startedAt: state.since });
      this.#watcher.watch(planned, attempt, state.since);
    }
    if (state.phase !== 'ended') return;
    if (!this.#followed.delete(id)) {
      // It ended before we were there, or never was up: all there can be is an old file.
      this.#watcher.recall([planned]);
      return;
    }
    this.#watcher.finish(planned);
    this.#records.ended(planned, { number: attempt, endedAt: state.at, outcome: state.outcome });
  }

  /** Records the end of a run that another supervisor saw, in case it could not. */
  confirm({ attempt, state }: Run, planned: PlannedRun): void {
    if (state.phase !== 'ended') return;
    this.#records.ended(planned, { number: attempt, endedAt: state.at, outcome: state.outcome });
  }
}
