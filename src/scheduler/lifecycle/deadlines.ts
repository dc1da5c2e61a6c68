import type { Run } from '../run-state.js';
import { nextStartCheck } from '../start/group-start.js';
import type { SchedulerState } from '../state.js';

/**
 * When `time-passed` is needed next, Unix ms; null while no run has a deadline and no group a start time. While runs are still to be added, that is at once.
 */
export function nextDeadline(state: SchedulerState): number | null {
  const [intake] = state.intakes;
  if (intake !== undefined) return intake.submission.at;
  const times = [nextRunDeadline(state), nextStartCheck(state)].filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/** The first deadline of a run; null: none has one. */
export function nextRunDeadline({ deadlines }: SchedulerState): number | null {
  return deadlines.firstRank()?.[0] ?? null;
}

/** The first run whose deadline has passed, or null. */
export function due({ deadlines, runs }: SchedulerState, at: number): Run | null {
  const rank = deadlines.firstRank();
  return rank === null || rank[0] > at ? null : runs.get(deadlines.first()!)!;
}

/** Must be called when a run has changed. */
export function setDeadline({ deadlines }: SchedulerState, run: Run): void {
  const at = deadlineOf(run);
  if (at === null) deadlines.delete(run.id);
  else deadlines.set(run.id, [at, run.order]);
}

/** The time of the next change that needs no event: its kill, its retry, or its timeout. */
function deadlineOf({ state, hold, timeoutMs }: Run): number | null {
  switch (state.phase) {
    case 'waiting':
      return hold === null ? state.notBefore : null;
    case 'running':
      return timeoutMs === null || state.pausedAt !== null ? null : state.since + timeoutMs + state.pausedMs;
    case 'stopping':
      return state.killAt;
    default:
      return null;
  }
}
