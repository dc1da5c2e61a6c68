import type { RunId } from '../../base/ids.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { type Environment, environmentFile, type Submission, type SubmissionStore } from './submission-store.js';

/** What the runs of the scheduler's state are: it knows of each only the key of its submission. */
export class PlannedRuns {
  readonly #state: SchedulerState;
  readonly #submissions: SubmissionStore;

  constructor(state: SchedulerState, submissions: SubmissionStore) {
    this.#state = state;
    this.#submissions = submissions;
  }

  /** What was submitted under that key. Throws a UserError when it is gone. */
  submission(key: string): Submission {
    return this.#submissions.of(key);
  }

  /** Null for a run that is forgotten. Throws a UserError when its plan is gone. */
  of(id: RunId): PlannedRun | null {
    return this.submitted(id)?.run ?? null;
  }

  /** As it goes on when its present attempt has ended, where its budget was raised meanwhile; else null. */
  next(id: RunId): PlannedRun | null {
    const next = this.#state.runs.get(id)?.next ?? null;
    return next === null ? null : (this.#submissions.of(next.plan).runs.get(id) ?? null);
  }

  /** The run with the environment of its submit; see `of`. */
  submitted(id: RunId): { run: PlannedRun; environment: Environment } | null {
    const known = this.#state.runs.get(id);
    if (known === undefined) return null;
    const { runs, environment } = this.#submissions.of(known.plan);
    const run = runs.get(id);
    return run === undefined ? null : { run, environment };
  }

  /** Where the environment of its submit is kept, below `.supervisor`; nothing for a run that is forgotten. */
  environmentFileOf(id: RunId): { environment?: string } {
    const run = this.#state.runs.get(id);
    return run === undefined ? {} : { environment: environmentFile(run.plan) };
  }

  /** The keys of what these runs are, or all; and of what is still being taken in. */
  keys(ids: Iterable<RunId> = this.#state.runs.keys(), intakes = this.#state.intakes): Set<string> {
    const keys = new Set(intakes.map(({ submission }) => submission.plan));
    for (const id of ids) {
      const { plan, next, group } = this.#state.runs.get(id)!;
      keys.add(plan);
      const { open } = this.#state.groups.get(group)!;
      if (open !== null) keys.add(open.plan);
      if (next !== null) keys.add(next.plan);
    }
    return keys;
  }
}
