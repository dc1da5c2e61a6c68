import type { Interval } from '../../../analysis/bootstrap.js';
import { NORMAL95 } from '../../../analysis/seed-statistics.js';
import { wilson95 } from '../proportion.js';

/** A waiting time. `isEvent`: the event happened then; otherwise the run ended before it (censored). */
export type Wait = { readonly time: number; readonly isEvent: boolean };

/** One step of a survival curve: from `time` on, `surviving` have not had the event. `variance`: Greenwood's sum Σ d/(n(n−d)). */
type SurvivalStep = {
  readonly time: number;
  readonly surviving: number;
  readonly variance: number;
};

/** The Kaplan-Meier estimate of waits. Times at which nothing happened have no step. */
export class SurvivalCurve {
  readonly #steps: SurvivalStep[] = [];
  readonly #waits: readonly Wait[];

  constructor(waits: readonly Wait[]) {
    this.#waits = waits;
    let [surviving, variance] = [1, 0];
    const times = [...new Set(waits.filter(({ isEvent }) => isEvent).map(({ time }) => time))].sort((a, b) => a - b);
    for (const time of times) {
      const atRisk = waits.filter((wait) => wait.time >= time).length;
      const events = waits.filter((wait) => wait.isEvent && wait.time === time).length;
      surviving *= 1 - events / atRisk;
      variance += events / (atRisk * (atRisk - events));
      this.#steps.push({ time, surviving, variance });
    }
  }

  /** The share that has had the event up to a time, with its interval; null: no run is watched until then. */
  happenedBy(time: number): { readonly share: number; readonly interval: Interval } | null {
    const step = this.#steps.findLast((each) => each.time <= time);
    const surviving = step?.surviving ?? 1;
    if (surviving > 0 && !this.#waits.some((wait) => wait.time >= time)) return null;
    const [low, high] = step === undefined || surviving === 0 ? this.#edge(time, surviving) : logLog95(step);
    return { share: 1 - surviving, interval: [1 - high, 1 - low] };
  }

  /**
   * The median time, with the interval of Brookmeyer & Crowley (1982) from the same log-log limits. Infinity: the curve, or its limit,
   * does not fall to one half while runs are watched.
   */
  median(): { readonly time: number; readonly interval: Interval } {
    const firstAt = (valueOf: (step: SurvivalStep) => number) =>
      this.#steps.find((step) => valueOf(step) <= HALF)?.time ?? Infinity;
    return {
      time: firstAt(({ surviving }) => surviving),
      interval: [firstAt((step) => logLog95(step)[0]), firstAt((step) => logLog95(step)[1])],
    };
  }

  /** Where all or none survive, Greenwood's variance is undefined; Wilson's interval of the watched runs is used. */
  #edge(time: number, surviving: number): Interval {
    const followed = this.#waits.filter((wait) => wait.isEvent || wait.time >= time).length;
    return wilson95(surviving === 1 ? followed : 0, followed);
  }
}

/** Rounding of the product of factors: a surviving share up to this still counts as one half. */
const HALF = 0.5 + 1e-12;

/** Limits of the surviving share by Greenwood's variance of log(−log S) (Kalbfleisch & Prentice 2002, section 1.4). */
function logLog95({ surviving, variance }: SurvivalStep): Interval {
  if (surviving === 0) return [0, 0];
  const log = Math.log(surviving);
  const half = (NORMAL95 * Math.sqrt(variance)) / -log;
  return [surviving ** Math.exp(half), surviving ** Math.exp(-half)];
}

/**
 * The log-rank test of two samples of waits (Mantel 1966): whether one waits longer than the other.
 *
 * @returns p from χ² with one degree of freedom; 1 where no event tells the samples apart.
 */
export function logRankTest(one: readonly Wait[], other: readonly Wait[]): number {
  const all = [...one, ...other];
  const times = new Set(all.filter(({ isEvent }) => isEvent).map(({ time }) => time));
  let [difference, variance] = [0, 0];
  for (const time of times) {
    const n = all.filter((wait) => wait.time >= time).length;
    const n1 = one.filter((wait) => wait.time >= time).length;
    const d = all.filter((wait) => wait.isEvent && wait.time === time).length;
    const d1 = one.filter((wait) => wait.isEvent && wait.time === time).length;
    difference += d1 - (d * n1) / n;
    if (n > 1) variance += (d * n1 * (n - n1) * (n - d)) / (n * n * (n - 1));
  }
  return variance === 0 ? 1 : twoSidedNormal(difference / Math.sqrt(variance));
}

/** The probability of a standard normal value at least this far from 0; relative error below 1.2e-7 (Numerical Recipes, erfc). */
function twoSidedNormal(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + x / 2);
  const coefficients = [
    ...[-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806],
    ...[0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277],
  ];
  const series = coefficients.reduceRight((sum, coefficient) => coefficient + t * sum, 0);
  return Math.min(1, t * Math.exp(-x * x + series));
}
