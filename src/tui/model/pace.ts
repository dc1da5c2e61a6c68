import type { RunSummary } from '../state/port.js';
import { hasEnded } from '../../base/run-words.js';

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
  let [firstStart, lastEnd, ended] = [Infinity, -Infinity, 0];
  for (const { startedAt, endedAt, state } of runs) {
    firstStart = Math.min(firstStart, startedAt ?? Infinity);
    lastEnd = Math.max(lastEnd, endedAt ?? -Infinity);
    if (hasEnded(state)) ended++;
  }
  const isOver = runs.length > 0 && ended === runs.length;
  return {
    startedAt: finite(firstStart),
    endedAt: isOver ? finite(lastEnd) : null,
    etaSeconds: isOver ? null : remainingSeconds(runs, now),
  };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** The queue is shared by the slots now busy; but the longest of the present runs may outlast it. */
function remainingSeconds(runs: readonly RunSummary[], now: number): number | null {
  const typical = typicalSeconds(runs, now);
  let [active, queued, sum, longest] = [0, 0, 0, 0];
  for (const { state, etaSeconds } of runs) {
    if (state === 'queued') queued++;
    if (!isActive(state)) continue;
    const left = etaSeconds ?? typical;
    if (left === null) return null;
    active++;
    sum += left;
    longest = Math.max(longest, left);
  }
  if (active === 0 || (queued > 0 && typical === null)) return null;
  return Math.max((sum + queued * (typical ?? 0)) / active, longest);
}

function isActive(state: RunSummary['state']): boolean {
  return state === 'running' || state === 'starting';
}

/** How long a run takes on the average: those done, and those running as far as they know. */
function typicalSeconds(runs: readonly RunSummary[], now: number): number | null {
  let [count, sum] = [0, 0];
  for (const run of runs) {
    const seconds = wholeSeconds(run, now);
    if (seconds === null) continue;
    count++;
    sum += seconds;
  }
  return count === 0 ? null : sum / count;
}

function wholeSeconds({ state, startedAt, endedAt, etaSeconds }: RunSummary, now: number): number | null {
  if (startedAt === null) return null;
  if (state === 'done' && endedAt !== null) return (endedAt - startedAt) / 1000;
  return state === 'running' && etaSeconds !== null ? (now - startedAt) / 1000 + etaSeconds : null;
}
