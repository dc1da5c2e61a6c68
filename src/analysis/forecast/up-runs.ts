import type { Duration, RunKind } from './durations.js';
import { type Foreseen, KnownDurations } from './known-durations.js';
import { endsEarly, type RunSoFar, secondsToEnd } from './remaining.js';
import type { TimeRange } from './time-range.js';

/** A running run that makes progress. `elapsed`: seconds of its present attempt. */
export type UpRun = Omit<RunSoFar, 'like'> & {
  readonly kind: RunKind;
  /** Its progress at the end of its earlier attempts, 0 to 1; null: this is its first attempt. */
  readonly resumedAt: number | null;
};

/** Estimates the remaining time of running runs, from those that are done and from each other. */
export function timesLeft(ended: readonly Duration[], up: readonly UpRun[]): (run: UpRun) => TimeRange | null {
  const byEnded = new KnownDurations(ended);
  const byAll = byEnded.with(up.flatMap((run) => foreseen(run, byEnded) ?? []));
  return (run) => leftOf(run, byAll);
}

/** The expected duration of a running run; null: it has no estimate, or the times of some attempt are unknown. */
function foreseen(run: UpRun, durations: KnownDurations): Foreseen | null {
  const { kind, elapsed, own, mayEndEarly, resumedAt } = run;
  const left = leftOf(run, durations);
  if (left === null || resumedAt !== null) return null;
  const isWhole = own !== null && !mayEndEarly && !endsEarly(durations.like(kind));
  return { kind, elapsed, left, share: isWhole ? 1 : null };
}

function leftOf(run: UpRun, durations: KnownDurations): TimeRange | null {
  const like = durations.like(run.kind);
  return secondsToEnd({ ...run, like, elapsed: like === null ? run.elapsed : elapsedOf(run, Math.exp(like.centre)) });
}

/**
 * Elapsed time of a run. For a resumed one it is that of a run with the same progress, as it is unknown how much of its earlier
 * attempts it can use.
 */
function elapsedOf({ elapsed, resumedAt, own }: UpRun, whole: number): number {
  if (resumedAt === null) return elapsed;
  return own === null ? resumedAt * whole + elapsed : own.progress * whole;
}
