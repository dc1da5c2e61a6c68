import type { Duration, Likeness, RunKind } from './durations.js';
import type { ToBudget } from './own-pace.js';
import { type Possible, rangeOf, type TimeRange } from './time-range.js';
import { type Foreseen, KnownDurations } from './known-durations.js';

type Own = { readonly progress: number } & Pick<ToBudget, 'seconds' | 'error'>;

/** The facts about a running run from which its remaining time is estimated. Seconds. */
export type RunSoFar = {
  readonly elapsed: number;
  /** Share of its budget that is used, and the time left at its own pace; null: it reports no progress. */
  readonly own: Own | null;
  /** Whether a rule (`stop_when`, early stopping) may end it before its budget is used up. */
  readonly mayEndEarly: boolean;
  /** How long similar runs take; null: unknown. */
  readonly like: Likeness | null;
};

/** A run without progress that has taken so many times as long as the longest similar run may never end. */
const UNLIKE = 3;
/** Weight of the case that a run ends as no similar run has ended, as a number of runs. */
const OTHERWISE = 0.5;
/** The pace of a run that is up for less, in seconds, and has made less progress, is mostly that of its start-up. */
const YOUNG = 10;
const BEGUN = 0.1;
/** Three equal weights at 0 and at so many standard deviations to both sides have that deviation. */
const THREE = [-Math.sqrt(1.5), 0, Math.sqrt(1.5)];

/**
 * How long until a run ends; null: unknown.
 *
 * The run may end as any similar run that it has not outlasted: after the same time, and at the same share of its budget, which its
 * own pace reaches at some time. Both estimates are weighted by their precision: the siblings count most at first, and the run
 * itself more and more. A run that outlasts all others uses its budget up; where others did not, or it has none, it takes as long
 * again as it has taken (the median of the remaining life where only the age is known; J. R. Gott, Nature 363, 1993).
 */
export function secondsToEnd(run: RunSoFar): TimeRange | null {
  const { own, like } = run;
  if (like === null) return own !== null && isWorthTelling(run, own) ? rangeOf(budgetOf(own, 1)) : null;
  const known = asOthers(run, like);
  if (known.length === 0 && own === null && isUnlike(run, like)) return null;
  return rangeOf([...known, ...otherwise(run, like)]);
}

/** Whether the pace of a run is reliable enough where no similar run is known. */
function isWorthTelling({ elapsed, mayEndEarly }: RunSoFar, { progress }: Own): boolean {
  return !mayEndEarly && (elapsed >= YOUNG || progress >= BEGUN);
}

/** The remaining times by similar runs that have ended, without those that this run has outlasted. */
function asOthers({ elapsed, own }: RunSoFar, like: Likeness): Possible[] {
  const { marks, count } = like.shape();
  const deviation = Math.hypot(like.doubt, like.spread);
  const combined = own === null ? null : combine(like.centre, deviation, { elapsed, own });
  const possible: Possible[] = [];
  for (const { at, share } of marks) {
    const byOther = Math.exp(like.centre + at * deviation);
    if (byOther <= elapsed) continue;
    const isWhole = combined !== null && share !== null && share >= WHOLE;
    const seconds = isWhole ? Math.exp(combined.centre + at * combined.deviation) : byOther;
    if (seconds > elapsed) possible.push({ seconds: seconds - elapsed, weight: count / marks.length });
  }
  return possible;
}

/** Combines the duration by the run's own pace with that by others, weighted by their variances, as logarithms. */
function combine(centre: number, deviation: number, { elapsed, own }: { elapsed: number; own: Own }) {
  const byItself = Math.max(LEAST_SECONDS, elapsed + own.seconds);
  const error = Math.max(LEAST_ERROR, (own.error * own.seconds) / byItself);
  const trust = deviation ** 2 / (deviation ** 2 + error ** 2);
  return {
    centre: trust * Math.log(byItself) + (1 - trust) * centre,
    deviation: Math.hypot(trust * error, (1 - trust) * deviation),
  };
}

const LEAST_SECONDS = 1e-3;
const LEAST_ERROR = 0.03;

/** Whether some of these runs ended before their budget was used up. */
function endsEarly(like: Likeness | null): boolean {
  return like?.shape().marks.some(({ share }) => share !== null && share < WHOLE) ?? false;
}

function otherwise({ elapsed, own, mayEndEarly }: RunSoFar, like: Likeness): Possible[] {
  if (own !== null && !mayEndEarly && !endsEarly(like)) return budgetOf(own, OTHERWISE);
  return [1 / 5, 1, 5].map((times) => ({
    seconds: Math.min(times * elapsed, own?.seconds ?? Infinity),
    weight: OTHERWISE / 3,
  }));
}

/** A run that has used this share of its budget counts as complete. */
const WHOLE = 0.9;

function budgetOf(own: Own, weight: number): Possible[] {
  return THREE.map((by) => ({ seconds: own.seconds * Math.exp(by * own.error), weight: weight / 3 }));
}

function isUnlike({ elapsed }: RunSoFar, { centre, spread, shape }: Likeness): boolean {
  return elapsed > UNLIKE * Math.exp(centre + spread * shape().marks.at(-1)!.at);
}

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
