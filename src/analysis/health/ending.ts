import { goalByName } from '../metric-order.js';
import { mean, median } from '../statistics.js';
import { type Course, courseOf, courseWords, hasLost, isLarge, levelsOf } from './divergence.js';
import { type Finding, notFiniteFindings } from './finding.js';

/** A metric that tells how well a run does. `better`: 1 where more is better, −1 where less is. */
export type Judged = { readonly metric: string; readonly better: 1 | -1 };

/**
 * What is kept of the judged metric of a run that has ended. `last`: its last value; `peak`: its best one; `tail`: the median of
 * its last three values, of which one may be a spike.
 */
export type Ending = Judged & Course & { readonly last: number; readonly peak: number; readonly tail: number };

/**
 * The metric by which it is seen whether a run diverges or collapses: its objective; without one the metric that stands for the
 * run, if its name says which direction is better. Null: there is none.
 */
export function judgedMetric(
  objective: { readonly name: string; readonly goal: 'minimize' | 'maximize' } | null,
  standing: string | null,
): Judged | null {
  const metric = objective?.name ?? standing;
  const goal = objective?.goal ?? (standing === null ? null : goalByName(standing));
  return metric === null || goal === null ? null : { metric, better: goal === 'maximize' ? 1 : -1 };
}

/** @param values Of the judged metric, oldest first. @returns Null where there are none. */
export function endingOf(judged: Judged, values: ArrayLike<number>): Ending | null {
  const { better } = judged;
  if (values.length === 0) return null;
  const last = values[values.length - 1]!;
  const finite = Array.from(values).filter(Number.isFinite);
  const levels = levelsOf({ x: finite, y: finite }, better);
  const course =
    levels === null
      ? courseOf(finite.length === 0 ? [last] : finite, { better, noise: noiseOfFew(finite), last: 2 })
      : courseOf(levels.level, { better, noise: levels.noise, last: 1 });
  const peak = better * finite.reduce((most, value) => Math.max(most, better * value), -Infinity);
  return { ...judged, ...course, last, peak, tail: median(finite.slice(-3)) ?? last };
}

/** Standard deviation of single values, from the differences between neighbours: of a normal distribution their mean is 1.128 of it. */
function noiseOfFew(values: readonly number[]): number {
  const steps = values.slice(1).map((value, index) => Math.abs(value - values[index]!));
  return (mean(steps) ?? 0) / 1.128;
}

/** A run has exploded when its end is so many times the size of its start and its best; and of the values of its siblings. */
const EXPLODED = 1e3;
/** The same for a run of which only siblings tell that its values were too large from the first. */
const FAR_FROM_SIBLINGS = 1e6;
/** So much of what a metric that should be large had gained is lost; and of any metric, where others kept it. */
const COLLAPSED = 0.75;
const ALONE = 0.5;
/** What it lost before, it gained again; what it has lost at its end, it does not. */
const EARLIER_LOSSES = 1.5;
/** Siblings that must be known for a comparison. */
const ENOUGH = 2;

/** The endings of the runs of a group, with which each of them is compared. */
export class EndedSiblings {
  readonly #byMetric = new Map<string, { ends: number[]; sizes: number[] }>();

  constructor(endings: Iterable<Ending>) {
    for (const ending of endings) {
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
   * The word that a run keeps after its end, and how that is seen; null: it ended well, as far as can be seen. `diverged`: its
   * values exploded, or a metric that should be small ended above its start, by far. `collapsed`: one that should be large lost three
   * quarters of what it had gained. Where the median of its siblings kept it, half is enough. `nan`: its last value is none.
   */
  markOf(ending: Ending): Finding | null {
    const { metric, better, last, peak } = ending;
    if (!Number.isFinite(last)) return notFiniteFindings([metric], { [metric]: last }, true)[0]!;
    const others = this.#besides(ending);
    const isExploded = hasExploded(ending, others);
    if (!isExploded && !hasFallenBack(ending, others)) return null;
    const beside = others === null ? null : -better * others.end;
    const reason = courseWords(metric, { now: last, best: peak, others: beside });
    return { word: better === 1 && !isExploded ? 'collapsed' : 'diverged', reason };
  }

  /** The median end of the others, and the lower quartile of the sizes of their values; null: too few are known. */
  #besides(own: Ending): Others | null {
    const known = this.#byMetric.get(keyOf(own));
    if (known === undefined) return null;
    const ends = lowerQuantileWithout(known.ends, own.end, 0.5);
    const size = lowerQuantileWithout(known.sizes, sizeOf(own), 0.25);
    return ends === null || size === null ? null : { end: ends, size };
  }
}

/** How large values of the metric are in a run: one that has learnt to the last digit says nothing of that at its end. */
function sizeOf({ start, tail }: Ending): number {
  return Math.max(Math.abs(start), Math.abs(tail));
}

/** What other runs of the group came to. `end`: as of `Course`. */
type Others = { readonly end: number; readonly size: number };

function hasExploded({ better, tail, start, best }: Ending, others: Others | null): boolean {
  const [bad, size] = [-better * tail, Math.abs(tail)];
  if (others !== null && bad <= others.end) return false;
  const ofOthers = others?.size ?? 0;
  const own = Math.max(Math.abs(start), Math.abs(best));
  const isFar = ofOthers > 0 && size > FAR_FROM_SIBLINGS * ofOthers;
  return isFar || (own > 0 && bad > start && size > EXPLODED * Math.max(own, ofOthers));
}

function hasFallenBack(ending: Ending, others: Others | null): boolean {
  const { better, start, best, end } = ending;
  if (!hasLost(ending, EARLIER_LOSSES)) return false;
  const [lost, gained] = [end - best, start - best];
  if (others !== null && end - others.end >= lost / 2) return lost >= ALONE * gained;
  return better === 1 ? lost >= COLLAPSED * gained : lost >= gained && isLarge(ending);
}

/** Metrics of one name may be wanted large in one sweep and small in another. */
function keyOf({ metric, better }: Judged): string {
  return `${better} ${metric}`;
}

/** The value below which that share of the others lies, of which one is left out; null: fewer than `ENOUGH` are left. */
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
