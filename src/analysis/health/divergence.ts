import type { Finding } from './finding.js';
import { shortNumber } from '../../text/numbers.js';
import { interquartileMean } from '../seed-statistics.js';
import { median, quantile } from '../statistics.js';

/**
 * A series reduced to the levels of at most 32 stretches with equally many values, without its noise. `better` is the direction: 1
 * where more is better, −1 where less is. `noise`: standard deviation of single values around their level.
 */
export type Levels = {
  readonly better: 1 | -1;
  /** The x at the end of each stretch; ascending. */
  readonly x: readonly number[];
  readonly level: readonly number[];
  readonly noise: number;
};

const STRETCHES = 32;
/** Least number of values in a stretch, and of stretches; and the number of values that suffice to know the level of a stretch. */
const LEAST_VALUES = 4;
const MOST_VALUES = 24;
const LEAST_STRETCHES = 6;
/** Distance between the 10th and the 90th percentile of a normal distribution, in standard deviations. */
const NORMAL_RANGE = 2.563;

/**
 * Reduces a series to levels; null: there are too few values.
 *
 * @param x Ascending. @param y One value for each x; NaN is left out, infinities count.
 */
export function levelsOf({ x, y }: { x: ArrayLike<number>; y: ArrayLike<number> }, better: 1 | -1): Levels | null {
  const known: number[] = [];
  for (let at = 0; at < y.length; at++) if (!Number.isNaN(y[at])) known.push(at);
  const count = Math.min(STRETCHES, Math.floor(known.length / LEAST_VALUES));
  if (count < LEAST_STRETCHES) return null;
  const [ends, level, spreads]: [number[], number[], number[]] = [[], [], []];
  for (let stretch = 0; stretch < count; stretch++) {
    const from = Math.floor((stretch * known.length) / count);
    const to = Math.floor(((stretch + 1) * known.length) / count);
    const sorted = sortedSample(known, y, { from, to });
    // The interquartile mean ignores outliers, and unlike a median it shows the share of each of two values.
    level.push(interquartileMean(sorted));
    ends.push(x[known[to - 1]!]!);
    spreads.push(
      (sorted[Math.round(0.9 * (sorted.length - 1))]! - sorted[Math.round(0.1 * (sorted.length - 1))]!) / NORMAL_RANGE,
    );
  }
  spreads.sort((one, other) => one - other);
  return { better, x: ends, level, noise: quantile(spreads, 0.75) };
}

/** The values of a stretch, or an even selection of them, ascending. */
function sortedSample(
  known: readonly number[],
  y: ArrayLike<number>,
  { from, to }: { from: number; to: number },
): number[] {
  const count = Math.min(MOST_VALUES, to - from);
  const sample = new Float64Array(count);
  for (let at = 0; at < count; at++) sample[at] = y[known[from + Math.floor((at * (to - from)) / count)]!]!;
  return Array.from(sample.sort());
}

/**
 * A loss of quality is significant when it exceeds so many times the noise of single values, so many times the largest earlier loss
 * that was regained on the way to the best, and such a share of the size of the series.
 */
const NOISES = 4;
const EARLIER_LOSSES = 2;
const SHARE = 0.1;
/** Share of the gain that must be lost: where siblings kept theirs, and where there are none to compare with. */
const WITH_SIBLINGS = 0.5;
const ALONE = 1;
/** Least number of siblings that have come as far. */
const ENOUGH = 2;
/** Thresholds shrink by this factor for a run that was already diverging, so that its health does not alternate. */
const STILL = 0.5;

/** A metric that should be large has collapsed only if it is below its start for such a share of the run, where no sibling tells more. */
const LONG = 0.6;
/** Values have exploded where they are this many times as large as those of their start, and not small by themselves. */
const FAR = 1e6;
const NOT_SMALL = 1e3;

/**
 * What is wrong with the course of a run that goes on; null: nothing, or too little is known. `diverging`: the values exploded, or a
 * metric that should be small has lost at least half of what it had gained, while its siblings at the same step have not; where no
 * sibling is as far, when it is worse than at its start. `collapsed`: the same of a metric that should be large, which must have
 * gained something before, and without siblings be below its start for most of the run, as rewards move up and down. In all cases
 * the loss must far exceed its noise and what it lost and regained before, and hold in its last two stretches, so that neither a
 * spike nor a bad batch counts.
 *
 * @param name Name of the metric.
 * @param siblings Levels of the same metric in siblings; called only for a run that does badly.
 * @param wasBad Whether this was said of the run at the last check.
 */
export function divergenceOf(
  name: string,
  own: Levels,
  siblings: () => readonly Levels[],
  wasBad: boolean,
): Finding | null {
  const { better, level, noise } = own;
  const exploded = explosionOf(name, own);
  if (exploded !== null) return exploded;
  const course = courseOf(level, { better, noise, last: 2 });
  const ease = wasBad ? STILL : 1;
  if (!hasLost(course, EARLIER_LOSSES, ease)) return null;
  const others = levelAmong(siblings(), own.x.at(-1)!);
  if (others === null ? !isBadAlone(own, course, ease) : !isWorseThan(-better * others, course, ease)) return null;
  const reason = courseWords(name, { now: -better * course.end, best: -better * course.best, others });
  return { word: better === 1 ? 'collapsed' : 'diverging', reason };
}

/** @param others The level of the siblings; less is better. */
function isWorseThan(others: number, { start, best, end }: Course, ease: number): boolean {
  const lost = end - best;
  return lost >= ease * WITH_SIBLINGS * (start - best) && end - others >= (ease * lost) / 2;
}

/** Whether the values of a run exploded, which siblings that did the same do not excuse; null: they did not. */
export function explosionOf(name: string, { better, level, noise }: Levels): Finding | null {
  const { start, best, end } = courseOf(level, { better, noise, last: 2 });
  const size = Math.abs(end);
  if (end <= start || size < NOT_SMALL || size < FAR * Math.max(Math.abs(start), Math.abs(best))) return null;
  return { word: 'diverging', reason: courseWords(name, { now: -better * end, best: -better * best, others: null }) };
}

function isBadAlone({ better, level, noise }: Levels, course: Course, ease: number): boolean {
  const { start, best, end } = course;
  if (end - best < ease * ALONE * (start - best)) return false;
  if (better === -1) return isLarge(course);
  const hasGained = start - best > Math.max(NOISES * noise, SHARE * Math.abs(best));
  const since = Math.floor(level.length * (1 - LONG));
  return hasGained && level.slice(since).every((value) => -value > start);
}

/**
 * The course of a series: the levels of its start, of its best and of its end, and `earlier`, the largest loss that was made
 * good. Levels are negated where more is better, so that less is always better here. `noise`: as in `Levels`.
 */
export type Course = {
  readonly start: number;
  readonly best: number;
  readonly end: number;
  readonly earlier: number;
  readonly noise: number;
};

/** @param last The end is the best of so many last levels. */
export function courseOf(
  levels: readonly number[],
  { better, noise, last }: Pick<Levels, 'better' | 'noise'> & { readonly last: number },
): Course {
  const bad = levels.map((value) => -better * value);
  const best = Math.min(...bad);
  const earlier = largestRegained(bad);
  return { start: bad[0]!, best, end: Math.min(...bad.slice(-last)), earlier, noise };
}

/**
 * Whether a run has lost significantly much since its best value.
 *
 * @param times The loss must be more than this many times the largest loss before the best value.
 */
export function hasLost({ start, best, end, earlier, noise }: Course, times: number, ease = 1): boolean {
  const much = Math.max(NOISES * noise, times * earlier, SHARE * Math.abs(start), SHARE * Math.abs(best));
  return end - best > ease * much;
}

/**
 * Whether the rise of a loss is too large for overfitting: at least half of its own size. Needed only where there are no siblings.
 */
export function isLarge({ start, best, end }: Course): boolean {
  return end - best >= Math.max(Math.abs(start), Math.abs(best)) / 2;
}

/** `loss 7, at its best 2, others 2`; the best is left out where the run ended there. `others` null: there are none. */
export function courseWords(
  name: string,
  { now, best, others }: { readonly now: number; readonly best: number; readonly others: number | null },
): string {
  const before = best === now ? '' : `, at its best ${shortNumber(best)}`;
  const beside = others === null ? '' : `, others ${shortNumber(others)}`;
  return `${name} ${shortNumber(now)}${before}${beside}`;
}

/** Share of a fall that must be made good for the fall to be one of the ups and downs of the run. */
const REGAINED = 0.75;

/** The largest fall behind the best value before that was made good afterwards. */
function largestRegained(bad: readonly number[]): number {
  let [best, worst, most] = [Infinity, -Infinity, 0];
  for (const value of bad) {
    worst = Math.max(worst, value);
    const fall = worst - best;
    if (fall > 0 && worst - value >= REGAINED * fall) {
      most = Math.max(most, fall);
      worst = value;
    }
    if (value >= best) continue;
    best = value;
    worst = value;
  }
  return most;
}

/** The median of the siblings' levels at this step; null: fewer than two have come as far. */
function levelAmong(siblings: readonly Levels[], x: number): number | null {
  const known = siblings.flatMap(({ x: ends, level }) => {
    const place = ends.findIndex((end) => end >= x);
    return place < 0 ? [] : [level[place]!];
  });
  return known.length < ENOUGH ? null : median(known);
}
