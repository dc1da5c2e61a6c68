/** An uncertain length of time in seconds: it is below `low` in one case of ten, and above `high` in another. */
export type TimeRange = { readonly low: number; readonly middle: number; readonly high: number };

/** A possible length of time, and its relative probability. */
export type Possible = { readonly seconds: number; readonly weight: number };

/** The range of a distribution; null: it is empty. */
export function rangeOf(possible: Possible[]): TimeRange | null {
  if (possible.length === 0) return null;
  const sorted = possible.sort((a, b) => a.seconds - b.seconds);
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0);
  const at = (share: number) => quantileOf(sorted, share * total);
  // Rounding may put the later of two equal times first.
  const low = at(TAIL);
  const middle = Math.max(low, at(0.5));
  return { low, middle, high: Math.max(middle, at(1 - TAIL)) };
}

/** Probability that a time lies below its range; that of a time above it is the same. */
const TAIL = 0.1;
/** Standard deviations from the middle to the ends of the range, of a normal distribution. */
const TAIL_DEVIATIONS = 1.2816;

/** The quantile, interpolated linearly between the middles of the steps of the distribution. */
function quantileOf(sorted: readonly Possible[], wanted: number): number {
  let [before, beforeAt] = [sorted[0]!.seconds, 0];
  let below = 0;
  for (const { seconds, weight } of sorted) {
    const at = below + weight / 2;
    if (at >= wanted) return before + ((seconds - before) * (wanted - beforeAt)) / (at - beforeAt);
    below += weight;
    [before, beforeAt] = [seconds, at];
  }
  return before;
}

/** The time at so many standard deviations from the middle, as if its logarithm were normal on either side. */
export function timeAt({ low, middle, high }: TimeRange, deviations: number): number {
  const end = deviations < 0 ? low : high;
  if (middle <= 0 || end <= 0) return Math.max(0, middle + ((end - middle) * Math.abs(deviations)) / TAIL_DEVIATIONS);
  return middle * (end / middle) ** (Math.abs(deviations) / TAIL_DEVIATIONS);
}

/** Standard deviation of the logarithm of a time, by its range. */
export function deviationOf({ low, high }: Pick<TimeRange, 'low' | 'high'>): number {
  return Math.log(Math.max(high, 1e-3) / Math.max(low, 1e-3)) / (2 * TAIL_DEVIATIONS);
}

/** Standard deviations below which a normal variable lies with this probability (by the logistic function, within 0.01). */
export function deviationsAt(probability: number): number {
  return Math.log(probability / (1 - probability)) / LOGISTIC;
}

/** The inverse of `deviationsAt`. */
export function probabilityOf(deviations: number): number {
  return 1 / (1 + Math.exp(-LOGISTIC * deviations));
}

const LOGISTIC = 1.702;

/** A shown range follows news within this share of the time left, and not faster than this, in seconds. */
const SHARE = 0.03;
const LEAST_SECONDS = 2;

/**
 * The time left as it is shown. A start or an end of a run may move an estimate by factors, and another one a second later moves it
 * back, so what is shown follows within some seconds (an exponential mean of the logarithms). An instance smooths the estimates of one sweep.
 */
export class SteadyRange {
  #last: { readonly range: TimeRange; readonly at: number; readonly of: string } | null = null;

  /**
   * @param of What the estimate depends on, such as the number of slots: where that changes, the new one is shown at once.
   * @param now Unix ms.
   */
  next(told: TimeRange | null, of: string, now: number): TimeRange | null {
    const last = this.#last;
    const passed = last === null ? 0 : (now - last.at) / 1000;
    const range = told === null || last?.of !== of || passed < 0 ? told : between(last.range, told, passed);
    this.#last = range === null ? null : { range, at: now, of };
    return range;
  }
}

function between(was: TimeRange, is: TimeRange, passed: number): TimeRange {
  const share = 1 - Math.exp(-passed / Math.max(LEAST_SECONDS, SHARE * is.middle));
  const at = (before: number, told: number) => Math.max(1, before - passed) ** (1 - share) * Math.max(1, told) ** share;
  return { low: at(was.low, is.low), middle: at(was.middle, is.middle), high: at(was.high, is.high) };
}
