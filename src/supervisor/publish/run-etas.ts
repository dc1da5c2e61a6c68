import type { Duration, RunKind } from '../../analysis/forecast/durations.js';
import { MOST_PER_GROUP } from '../../analysis/forecast/known-durations.js';
import { standsStill } from '../../analysis/forecast/own-pace.js';
import type { TimeRange } from '../../analysis/forecast/time-range.js';
import { timesLeft, type UpRun } from '../../analysis/forecast/remaining.js';
import type { GroupId, RunId } from '../../base/ids.js';
import type { Run, SchedulerState, UpTime } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { MonitoredMetrics } from './run-view.js';

type RunEtaSources = {
  state: SchedulerState;
  planned: (id: RunId) => PlannedRun;
  monitored: (id: RunId) => MonitoredMetrics;
  /** On the scheduler's line, ms. */
  now: () => number;
};

/** What is learnt from the runs is learnt anew so often, ms. */
const LEARN_MS = 900;
/** A younger attempt has no estimate, ms: of programs that last a moment, each row would be estimated, and nobody could read it. */
const YOUNG_MS = 900;

/** When the runs that are up end: by their own pace, and by how long those like them took; an observer of the event loop. */
export class RunEtas {
  readonly #sources: RunEtaSources;
  /** Seconds that runs took that are done, by group: the latest of each, in the order in which they ended. */
  readonly #done = new Map<GroupId, Map<RunId, number>>();
  #learnt: { at: number; leftOf: (run: UpRun) => TimeRange | null } | null = null;

  constructor(sources: RunEtaSources) {
    this.#sources = sources;
  }

  follow(touched: ReadonlySet<RunId>): void {
    for (const id of touched) {
      const run = this.#sources.state.runs.get(id);
      const seconds = run === undefined ? null : secondsOf(run);
      if (run !== undefined && seconds !== null) this.#note(run, seconds);
      else if (run !== undefined) this.#done.get(run.group)?.delete(id);
    }
  }

  /** How long until the run ends, seconds; null: nothing tells, it stands still, or it is not running. */
  of(run: Run): TimeRange | null {
    const up = this.#upRun(run);
    if (up === null || up.elapsed * 1000 < YOUNG_MS) return null;
    const now = this.#sources.now();
    if (this.#learnt === null || now - this.#learnt.at >= LEARN_MS) this.#learnt = { at: now, leftOf: this.#learn() };
    return this.#learnt.leftOf(up);
  }

  #note(run: Run, seconds: number): void {
    const members = this.#done.get(run.group) ?? new Map<RunId, number>();
    this.#done.set(run.group, members.set(run.id, seconds));
    if (members.size > MOST_PER_GROUP) members.delete(members.keys().next().value!);
  }

  #learn(): (run: UpRun) => TimeRange | null {
    const { state, monitored } = this.#sources;
    const ended: Duration[] = [];
    for (const members of this.#done.values()) {
      for (const [id, seconds] of members) {
        const run = state.runs.get(id);
        if (run !== undefined) ended.push({ kind: this.#kindOf(run), seconds, share: monitored(id).used, weight: 1 });
      }
    }
    return timesLeft(
      ended,
      [...state.active].flatMap((id) => this.#upRun(state.runs.get(id)!) ?? []),
    );
  }

  /** Null: it is not running, or stands still. */
  #upRun(run: Run): UpRun | null {
    const { state } = run;
    if (state.phase !== 'running' || state.pausedAt !== null) return null;
    const now = this.#sources.now();
    const { movement, toBudget, progress } = this.#sources.monitored(run.id);
    if (movement !== null && standsStill(movement, now)) return null;
    const { stopWhen, earlyTerminate } = this.#sources.planned(run.id);
    const isKnown = toBudget !== null && progress !== null;
    return {
      ...{
        kind: this.#kindOf(run),
        resumedAt: run.starts > 1 ? (progress ?? 0) : null,
        elapsed: (now - state.since - state.pausedMs) / 1000,
      },
      // What was to be done at the last move is less by now.
      own: isKnown
        ? { progress, error: toBudget.error, seconds: Math.max(0, toBudget.seconds - (now - toBudget.at) / 1000) }
        : null,
      mayEndEarly: stopWhen !== null || earlyTerminate !== null,
    };
  }

  #kindOf({ id, group }: Run): RunKind {
    const { sweep, group: name, parameters } = this.#sources.planned(id);
    const isPreparation = (this.#sources.state.groups.get(group)?.neededBy.size ?? 0) > 0;
    return { sweep, group: name, parameters, isPreparation };
  }
}

/** What a run that is done took in all its attempts; null: it tells nothing of how long others take. */
function secondsOf({ state, past, starts }: Run): number | null {
  if (state.phase !== 'ended' || state.outcome.kind !== 'done' || state.since === null) return null;
  // An older build did not keep the times of the attempts.
  if (past.length < starts) return starts === 1 ? (state.at - state.since) / 1000 : null;
  return past.reduce((sum, [since, at]: UpTime) => sum + at - since, 0) / 1000;
}
