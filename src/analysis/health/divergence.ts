import { shortNumber } from '../../text/numbers.js';
import { interquartileMean } from '../seed-statistics.js';
import { median, quantile } from '../statistics.js';

/**
 * A series as the levels of at most 32 stretches with equally many values: what it comes to without its noise. `better` is the
 * direction: 1 where more is better, −1 where less is. `noise`: standard deviation of single values around their level.
 */
export type Levels = {
  readonly better: 1 | -1;
  /** Where each stretch ends. Rises. */
  readonly x: readonly number[];
  readonly level: readonly number[];
  readonly noise: number;
};

const STRETCHES = 32;
/** Values of a stretch, and stretches, below which nothing is said; and values of a stretch that are enough to know its level. */
const LEAST_VALUES = 4;
const MOST_VALUES = 24;
const LEAST_STRETCHES = 6;
/** The 10th and the 90th percentile of a normal distribution lie so many standard deviations apart. */
const NORMAL_RANGE = 2.563;

/**
 * @param x Rises. @param y One value for each; what is no number is left out, an infinity counts.
 * @returns Null where there are too few values.
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
    // Outliers do not move it, and it tells apart shares of two values, as a median does not.
    level.push(interquartileMean(sorted));
    ends.push(x[known[to - 1]!]!);
    spreads.push(
      (sorted[Math.round(0.9 * (sorted.length - 1))]! - sorted[Math.round(0.1 * (sorted.length - 1))]!) / NORMAL_RANGE,
    );
  }
  spreads.sort((one, other) => one - other);
  return { better, x: ends, level, noise: quantile(spreads, 0.75) };
}

/** Values of a stretch, all or evenly chosen ones, the smallest first. */
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
 * What is lost is much when it is so many times the noise of single values, so many times what was lost on the way to the best
 * (and gained again), and such a share of the size of the series.
 */
const NOISES = 4;
const EARLIER_LOSSES = 2;
const SHARE = 0.1;
/** How much of what had been gained must be lost: with siblings that kept theirs, and without any. */
const WITH_SIBLINGS = 0.5;
const ALONE = 1;
/** Siblings that must have come as far. */
const ENOUGH = 2;
/** While it is diverging, it stays so until it is that much closer to its best. */
const STILL = 0.5;

/**
 * Why a run diverges, in words; null: it does not, or too little is known. It has lost at least half of what it had gained,
 * while its siblings at the same step have not; where there are none as far, it is worse than it was at its start. Either by far
 * more than its noise and its earlier ups and downs, and in its last two stretches, so that neither a spike nor a bad batch counts.
 *
 * @param name Of the metric. @param siblings Of the same metric; not asked for where the run does well.
 * @param wasDiverging Whether it was at the look before.
 */
export function divergenceOf(
  name: string,
  own: Levels,
  siblings: () => readonly Levels[],
  wasDiverging: boolean,
): string | null {
  const { better, level, noise } = own;
  const course = courseOf(level, { better, noise, last: 2 });
  const { start, best, end } = course;
  const ease = wasDiverging ? STILL : 1;
  if (!hasLost(course, EARLIER_LOSSES, ease)) return null;
  const others = levelAmong(siblings(), own.x.at(-1)!);
  if (others === null && better === -1 && !isLarge(course)) return null;
  const share = others === null ? ALONE : WITH_SIBLINGS;
  if (end - best < ease * share * (start - best)) return null;
  if (others !== null && end - -better * others < (ease * (end - best)) / 2) return null;
  return courseWords(name, { now: -better * end, best: -better * best, others });
}

/**
 * How a series went: the levels of its start, of its best and of its end, and the most that was lost on the way to its best, and
 * gained again. Levels are negated where more is better: here less is always better. `noise`: as of `Levels`.
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
  const earlier = largestLoss(bad.slice(0, bad.indexOf(best)));
  return { start: bad[0]!, best, end: Math.min(...bad.slice(-last)), earlier, noise };
}

/** Whether what was lost since the best is much. @param times More than so many times what was lost and gained again before. */
export function hasLost({ start, best, end, earlier, noise }: Course, times: number, ease = 1): boolean {
  const much = Math.max(NOISES * noise, times * earlier, SHARE * Math.abs(start), SHARE * Math.abs(best));
  return end - best > ease * much;
}

/** Whether what a loss has lost is so much that it is no overfitting: half of its own size. To be asked where no siblings tell. */
export function isLarge({ start, best, end }: Course): boolean {
  return end - best >= Math.max(Math.abs(start), Math.abs(best)) / 2;
}

/** `loss 7, at its best 2, others 2`; its best is left out where it ended there. `others`: null: nobody is known. */
export function courseWords(
  name: string,
  { now, best, others }: { readonly now: number; readonly best: number; readonly others: number | null },
): string {
  const before = best === now ? '' : `, at its best ${shortNumber(best)}`;
  const beside = others === null ? '' : `, others ${shortNumber(others)}`;
  return `${name} ${shortNumber(now)}${before}${beside}`;
}

/** The most that was lost of what had been reached before. */
function largestLoss(bad: readonly number[]): number {
  let [best, most] = [Infinity, 0];
  for (const value of bad) {
    best = Math.min(best, value);
    most = Math.max(most, value - best);
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
