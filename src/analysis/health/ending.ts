import { presentValue } from '../../base/present-value.js';
import { goalByName } from '../metric-order.js';
import { mean, median } from '../statistics.js';
import { type Course, courseOf, courseWords, hasLost, isLarge, levelsOf } from './divergence.js';
import { type Finding, notFiniteFindings } from './finding.js';

/** A metric that measures how well a run does. `better`: 1 where more is better, −1 where less is. */
export type Judged = { readonly metric: string; readonly better: 1 | -1 };

/**
 * Summary of the judged metric of a run that has ended. `first`, `last`: its values then; `peak`: its best one; `tail`: the median of its
 * last three values, as one may be a spike.
 */
export type Ending = Judged &
  Course & {
    readonly first: number;
    readonly last: number;
    readonly peak: number;
    readonly tail: number;
    /** That of the run's loss, where it is judged by something else. */
    readonly loss?: Ending;
  };

/**
 * The metric that decides whether a run diverges or collapses: its objective; without one the metric shown by default, if its name
 * tells which direction is better. Null: there is none.
 */
export function judgedMetric(
  objective: { readonly name: string; readonly goal: 'minimize' | 'maximize' } | null,
  standing: string | null,
): Judged | null {
  const metric = objective?.name ?? standing;
  const goal = objective?.goal ?? (standing === null ? null : goalByName(standing));
  return metric === null || goal === null ? null : { metric, better: goal === 'maximize' ? 1 : -1 };
}

/**
 * @param judged Null: nothing is judged.
 * @param loss The first loss among its metrics; null: it has none.
 * @param valuesOf Values of a metric, oldest first.
 * @returns Null where there are none.
 */
export function endingOf(
  judged: Judged | null,
  loss: string | null,
  valuesOf: (metric: string) => ArrayLike<number>,
): Ending | null {
  const own = judged === null ? null : endingOfMetric(judged, valuesOf(judged.metric));
  if (own === null || loss === null || loss === own.metric) return own;
  const beside = endingOfMetric({ metric: loss, better: -1 }, valuesOf(loss));
  return beside === null ? own : { ...own, loss: beside };
}

function endingOfMetric(judged: Judged, values: ArrayLike<number>): Ending | null {
  const { better } = judged;
  const last = presentValue(values);
  if (last === undefined) return null;
  const finite = Array.from(values).filter(Number.isFinite);
  const levels = levelsOf({ x: finite, y: finite }, better);
  const course =
    levels === null
      ? courseOf(finite.length === 0 ? [last] : finite, { better, noise: noiseOfFew(finite), last: 2 })
      : courseOf(levels.level, { better, noise: levels.noise, last: 1 });
  const peak = better * finite.reduce((most, value) => Math.max(most, better * value), -Infinity);
  return { ...judged, ...course, first: finite[0] ?? last, last, peak, tail: median(finite.slice(-3)) ?? last };
}

/**
 * Standard deviation of single values, from the mean difference between neighbours, which is 1.128 times as large for a normal
 * distribution.
 */
function noiseOfFew(values: readonly number[]): number {
  const steps = values.slice(1).map((value, index) => Math.abs(value - values[index]!));
  return (mean(steps) ?? 0) / 1.128;
}

/**
 * A run has exploded when the size of its end exceeds that of its start and its best, and that of its siblings' values, by this
 * factor.
 */
const EXPLODED = 1e3;
/** The factor where its values alone, or those of its siblings alone, show it. */
const FAR = 1e6;
/** Values below are 0 and what rounding adds to it, as the loss of a policy is before its first step. */
const ROUNDING = 1e-12;
/** Share of the gain that must be lost: for a metric that should be large, and for any metric where siblings kept theirs. */
const COLLAPSED = 0.75;
const ALONE = 0.5;
/** A loss must exceed the largest earlier loss, which was regained, by this factor. */
const EARLIER_LOSSES = 1.5;
/** Least number of siblings for a comparison. */
const ENOUGH = 2;

/** The endings of the runs of a group, with which each of them is compared. */
export class EndedSiblings {
  readonly #byMetric = new Map<string, { ends: number[]; sizes: number[] }>();

  constructor(endings: Iterable<Ending>) {
    for (const ending of [...endings].flatMap(withLoss)) {
      if (!Number.isFinite(ending.last)) continue;
      const known = this.#byMetric.get(keyOf(ending)) ?? { ends: [], sizes: [] };
      this.#byMetric.set(keyOf(ending), known);
      known.ends.push(ending.end);
      known.sizes.push(sizeOf(ending));
    }
    for (const { ends, sizes } of this.#byMetric.values()) {
      ends.sort((a, b) => a - b);
      sizes.sort((a, b) => a - b);
    }
  }

  /**
   * The mark that a run keeps after its end, and the reason; null: it ended well, as far as can be seen. `diverged`: its values
   * exploded, or a metric that should be small ended far above its start. `collapsed`: one that should be large lost three quarters
   * of its gain. Where the median of its siblings kept theirs, half is enough. `nan`: its last value is not finite. A run whose loss
   * exploded or is not finite has diverged, whatever it is judged by.
   */
  markOf(ending: Ending): Finding | null {
    const { loss } = ending;
    if (loss !== undefined && (!Number.isFinite(loss.last) || hasExploded(loss, this.#besides(loss))))
      return this.#ownMarkOf(loss);
    return this.#ownMarkOf(ending);
  }

  #ownMarkOf(ending: Ending): Finding | null {
    const { metric, better, last, peak } = ending;
    if (!Number.isFinite(last)) return notFiniteFindings([metric], { [metric]: last }, true)[0]!;
    const others = this.#besides(ending);
    const isExploded = hasExploded(ending, others);
    if (!isExploded && !hasFallenBack(ending, others)) return null;
    const beside = others === null ? null : -better * others.end;
    const reason = courseWords(metric, { now: last, best: peak, others: beside });
    return { word: better === 1 && !isExploded ? 'collapsed' : 'diverged', reason };
  }

  /** The median end of the other runs, and the lower quartile of the sizes of their values; null: there are too few. */
  #besides(own: Ending): Others | null {
    const known = this.#byMetric.get(keyOf(own));
    if (known === undefined) return null;
    const ends = lowerQuantileWithout(known.ends, own.end, 0.5);
    const size = lowerQuantileWithout(known.sizes, sizeOf(own), 0.25);
    return ends === null || size === null ? null : { end: ends, size };
  }
}

function withLoss(ending: Ending): Ending[] {
  return ending.loss === undefined ? [ending] : [ending, ending.loss];
}

/** The size of a metric's values in a run: that of its start or of its end, as a perfect fit may end near 0. */
function sizeOf({ start, tail }: Ending): number {
  return Math.max(Math.abs(start), Math.abs(tail));
}

/** Summary of the other runs of the group. `end`: as in `Course`. */
type Others = { readonly end: number; readonly size: number };

function hasExploded(ending: Ending, others: Others | null): boolean {
  const { better, tail, start, best } = ending;
  const [bad, size] = [-better * tail, Math.abs(tail)];
  const own = Math.max(Math.abs(start), Math.abs(best));
  const hasGrown = own > 0 && bad > start;
  if (isFarFromFirst(ending)) return hasGrown;
  if (others !== null && bad <= others.end) return false;
  const ofOthers = others?.size ?? 0;
  const isFar = ofOthers > 0 && size > FAR * ofOthers;
  return isFar || (hasGrown && size > EXPLODED * Math.max(own, ofOthers));
}

/** Siblings do not excuse it: where most of a group explodes, the least of these is no better for it. */
function isFarFromFirst({ first, tail }: Ending): boolean {
  return Math.abs(first) > ROUNDING && Math.abs(tail) > FAR * Math.abs(first);
}

function hasFallenBack(ending: Ending, others: Others | null): boolean {
  const { better, start, best, end } = ending;
  if (!hasLost(ending, EARLIER_LOSSES)) return false;
  const [lost, gained] = [end - best, start - best];
  if (others !== null && end - others.end >= lost / 2) return lost >= ALONE * gained;
  return better === 1 ? lost >= COLLAPSED * gained : lost >= gained && isLarge(ending);
}

/** The key includes the direction, as a metric of one name may be maximized in one sweep and minimized in another. */
function keyOf({ metric, better }: Judged): string {
  return `${better} ${metric}`;
}

/** A quantile of the other runs' values, with one own value left out; null: fewer than `ENOUGH` are left. */
function lowerQuantileWithout(sorted: readonly number[], own: number, share: number): number | null {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < own) low = middle + 1;
    else high = middle;
  }
  const isAmong = sorted[low] === own;
  const count = sorted.length - Number(isAmong);
  if (count < ENOUGH) return null;
  const place = Math.floor(share * (count - 1));
  return sorted[isAmong && place >= low ? place + 1 : place]!;
}
