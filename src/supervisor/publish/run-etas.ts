import { Durations, type RunKind } from '../../analysis/forecast/durations.js';
import { type RunSoFar, secondsToEnd, standsStill } from '../../analysis/forecast/remaining.js';
import type { RunId } from '../../base/ids.js';
import type { Run } from '../../scheduler/run-state.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { MonitoredMetrics } from './run-view.js';

type RunEtaSources = {
  state: SchedulerState;
  planned: (id: RunId) => PlannedRun;
  monitored: (id: RunId) => MonitoredMetrics;
  /** On the scheduler's line, ms. */
  now: () => number;
};

/** When the runs that are up end: by their own pace, and by how long those like them took; an observer of the event loop. */
export class RunEtas {
  readonly #sources: RunEtaSources;
  readonly #durations = new Durations();
  /** What each run that is done has taught. */
  readonly #taught = new Map<RunId, { kind: RunKind; seconds: number }>();

  constructor(sources: RunEtaSources) {
    this.#sources = sources;
  }

  follow(touched: ReadonlySet<RunId>): void {
    for (const id of touched) {
      const run = this.#sources.state.runs.get(id);
      const seconds = run === undefined ? null : wholeSeconds(run);
      const before = this.#taught.get(id);
      if (seconds === (before?.seconds ?? null)) continue;
      if (before !== undefined) this.#durations.forget(before.kind, before.seconds);
      this.#taught.delete(id);
      if (run === undefined || seconds === null) continue;
      const kind = this.#kindOf(run);
      this.#durations.note(kind, seconds);
      this.#taught.set(id, { kind, seconds });
    }
  }

  /** Whole seconds until the run ends, if it goes on as it does; null: nothing tells, it stands still, or it is not running. */
  of(run: Run): number | null {
    const { state } = run;
    if (state.phase !== 'running' || state.pausedAt !== null) return null;
    const now = this.#sources.now();
    const monitored = this.#sources.monitored(run.id);
    if (monitored.movement !== null && standsStill(monitored.movement, now)) return null;
    const elapsed = (now - state.since - state.pausedMs) / 1000;
    const seconds = secondsToEnd({ elapsed, toBudget: toBudgetAt(monitored, now), ...this.#expectations(run) });
    return seconds === null ? null : Math.round(seconds);
  }

  #expectations(run: Run): Pick<RunSoFar, 'mayEndEarly' | 'likes'> {
    const { stopWhen, earlyTerminate } = this.#sources.planned(run.id);
    // What a resumed run has taken so far is not all that it took.
    const like = run.starts > 1 ? null : this.#durations.like(this.#kindOf(run));
    return { mayEndEarly: stopWhen !== null || earlyTerminate !== null, likes: like?.inOrder ?? [] };
  }

  #kindOf({ id, group }: Run): RunKind {
    const { sweep, group: name, parameters } = this.#sources.planned(id);
    const isPreparation = (this.#sources.state.groups.get(group)?.neededBy.size ?? 0) > 0;
    return { sweep, group: name, parameters, isPreparation };
  }
}

/** What is left at this time of what was to be done at the last move. */
function toBudgetAt({ toBudget }: MonitoredMetrics, now: number): number | null {
  return toBudget === null ? null : Math.max(0, toBudget.seconds - (now - toBudget.at) / 1000);
}

/** Of a run that is done in one go; null: it tells nothing of how long others take. */
function wholeSeconds({ state, starts }: Run): number | null {
  if (state.phase !== 'ended' || state.outcome.kind !== 'done' || state.since === null || starts !== 1) return null;
  return (state.at - state.since) / 1000;
}
