import { type RunSummary } from '../port.js';
import { isEnded } from './state-look.js';

/** When runs began and ended, and how long the rest will take. */
export type Pace = {
  /** Unix ms of the first start. */
  readonly startedAt: number | null;
  /** Unix ms of the last end, once all have ended. */
  readonly endedAt: number | null;
  /** Until all have ended, with as many at a time as now; null while nothing tells how long a run takes. */
  readonly etaSeconds: number | null;
};

export function paceOf(runs: readonly RunSummary[], now: number): Pace {
  const starts = runs.flatMap(({ startedAt }) => (startedAt === null ? [] : [startedAt]));
  const hasEnded = runs.length > 0 && runs.every(({ state }) => isEnded(state));
  const ends = runs.flatMap(({ endedAt }) => (endedAt === null ? [] : [endedAt]));
  return {
    startedAt: least(starts),
    endedAt: hasEnded && ends.length > 0 ? ends.reduce((a, b) => Math.max(a, b)) : null,
    etaSeconds: hasEnded ? null : remainingSeconds(runs, now),
  };
}

function remainingSeconds(runs: readonly RunSummary[], now: number): number | null {
  const active = runs.filter(({ state }) => state === 'running' || state === 'starting');
  const queued = runs.filter(({ state }) => state === 'queued').length;
  if (active.length === 0) return null;
  const typical = mean(runs.flatMap((run) => wholeSeconds(run, now)));
  const left = active.map((run) => run.etaSeconds ?? typical);
  if (typical === null && (queued > 0 || left.includes(null))) return null;
  const known = left.map((seconds) => seconds ?? 0);
  // The queue is shared by the slots; the longest of the present runs may outlast it.
  const shared = (known.reduce((sum, seconds) => sum + seconds, 0) + queued * (typical ?? 0)) / active.length;
  return Math.max(shared, ...known);
}

/** How long a run took, or is expected to take in all. */
function wholeSeconds(run: RunSummary, now: number): number[] {
  if (run.startedAt === null) return [];
  if (run.state === 'done' && run.endedAt !== null) return [(run.endedAt - run.startedAt) / 1000];
  if (run.state === 'running' && run.etaSeconds !== null) return [(now - run.startedAt) / 1000 + run.etaSeconds];
  return [];
}

function least(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((a, b) => Math.min(a, b));
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
