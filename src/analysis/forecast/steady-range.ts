import type { TimeRange } from './time-range.js';

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
