/** What is known of a run that is up. Seconds. */
export type RunSoFar = {
  readonly elapsed: number;
  /** To the end of its budget, at its own pace; null: it does not say how far it is. */
  readonly toBudget: number | null;
  /** Whether a rule (`stop_when`, early stopping) may end it before its budget is used up. */
  readonly mayEndEarly: boolean;
  /** How long runs like it took from start to end, the shortest first. */
  readonly likes: readonly number[];
};

/** A run that has taken so many times as long as the longest like it, and says nothing of itself, may never end. */
const UNLIKE = 3;

/**
 * Seconds until a run ends; null: nothing tells.
 *
 * A run that uses its whole budget ends when its pace says so. One that a rule may end before is expected to do as its
 * siblings did: of those that took longer than it has taken so far, the median. Where it has outlasted them all, it is expected
 * to take as long again as it has taken (the median of what is left, of a duration of which nothing but its age is known;
 * J. R. Gott, Nature 363, 1993). Its budget is an upper bound of both.
 */
export function secondsToEnd({ elapsed, toBudget, mayEndEarly, likes }: RunSoFar): number | null {
  if (toBudget !== null && !mayEndEarly) return toBudget;
  if (likes.length === 0) return null;
  if (toBudget === null) return elapsed > UNLIKE * likes.at(-1)! ? null : secondsAsOthers(elapsed, likes);
  return Math.min(secondsAsOthers(elapsed, likes), toBudget);
}

function secondsAsOthers(elapsed: number, likes: readonly number[]): number {
  const longer = firstAbove(likes, elapsed);
  return longer < likes.length ? medianFrom(likes, longer) - elapsed : elapsed;
}

/** Place of the first value above a bound, in values in order. */
function firstAbove(values: readonly number[], bound: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The median of those from this place on. */
function medianFrom(values: readonly number[], from: number): number {
  const last = from + values.length - 1;
  return (values[last >> 1]! + values[(last + 1) >> 1]!) / 2;
}

/** How the progress of a run has moved; where it says nothing of its progress, its rows. Times: ms, any zero. */
export type Movement = {
  /** When it moved last. */
  readonly at: number;
  /** From one move to the next, on the average, and the longest so far; up to the first move, from its start. */
  readonly every: number;
  readonly longest: number;
};

/** A run stands still when it has not moved for so long, ms; for so many times its usual pause, and its longest one. */
const STILL_MS = 10_000;
const USUAL_PAUSES = 10;
const LONGEST_PAUSES = 3;

/** Whether a run has not moved for much longer than usual: then nobody knows when it ends. */
export function standsStill({ at, every, longest }: Movement, now: number): boolean {
  return now - at > Math.max(STILL_MS, USUAL_PAUSES * every, LONGEST_PAUSES * longest);
}
