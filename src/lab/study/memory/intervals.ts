import { groupBy } from '../../../base/group-by.js';
import type { Clustered, Interval } from '../../../analysis/bootstrap.js';
import { fisherTwoSided } from '../../../analysis/failures/fisher-exact.js';
import type { JudgedSeed, MemoryRow } from './summary.js';
import { holm, median } from '../../../analysis/statistics.js';
import { type Intraclass, intraclass, medianInterval } from '../../../analysis/study/clustered.js';
import { LEAST_PAIRS } from '../../../analysis/study/metric-intervals.js';
import { signTest, wilson95 } from '../proportion.js';
import { signedRankTest } from '../../../analysis/study/signed-ranks.js';
import { logRankTest, SurvivalCurve, type Wait } from './survival.js';

/** A median with its 95 % interval, by Student's t over base models. `runs`: number of runs. */
export type Estimate = { readonly median: number; readonly interval: Interval; readonly runs: number };

/** The 95 % intervals of a row of a memory table. */
export type RowIntervals = {
  readonly row: MemoryRow;
  /** Number of different models that its runs started from. */
  readonly bases: number;
  /** 95 % interval of the share that memorised, by Wilson. Null: no run has a verdict. */
  readonly memorised: Interval | null;
  /** Share that has memorised by each of `times`; null: no run was watched until then. */
  readonly by: readonly ({ readonly share: number; readonly interval: Interval } | null)[];
  /** Episodes until memorised; runs that did not memorise count as infinite. */
  readonly episodes: Estimate | null;
  /** How much of the variance of log episodes lies between base models, of runs that memorised; null: too few to say. */
  readonly between: Intraclass | null;
  /** Updates until memorised; null when not every run that memorised counted them. */
  readonly updates: Estimate | null;
  /** The secret's bits over `episodes`; null: it was known from the start, or no run has a verdict. */
  readonly bits: Estimate | null;
  /** Episodes from when the rewards determined the secret until it was memorised, over runs in which they did. */
  readonly late: Estimate | null;
  /** Episodes until memorised, divided by those until determined, over the same runs. */
  readonly ratio: Estimate | null;
  /** Runs that lost the secret at least once, among those that knew it for long, by Wilson; null: none knew it. */
  readonly lost: { readonly count: number; readonly of: number; readonly interval: Interval } | null;
  /**
   * Whether the row has the best learning rate: among the rows that differ in the learning rate alone, it memorised
   * most often, or of those that tie, in the fewest episodes by the median. Null: there is no other row.
   */
  readonly isBest: boolean | null;
};

/** Comparison of two rows with the same size of secret. */
export type Comparison = {
  readonly one: MemoryRow;
  readonly other: MemoryRow;
  /** Number of seeds and secrets in common. 0: the rows are compared as independent samples. */
  readonly pairs: number;
  /** Episodes of `other` divided by those of `one`, over pairs of which at least one memorised. Null: not paired. */
  readonly ratio: Estimate | null;
  /** Signed-rank test of these ratios, or log-rank test without pairs; null: there are pairs, but too few for a test. */
  readonly p: number | null;
  /** `p` after Holm (1979), over all comparisons of the group. */
  readonly holm: number | null;
  /**
   * Paired: the pairs of which only one memorised, with the sign test. Unpaired: the runs that memorised, with Fisher's
   * test.
   */
  readonly memorised: CountTest;
  /**
   * The same for losing the secret later, among runs that knew it for long; null: no run of the two rows lost it, or in
   * one row none knew it.
   */
  readonly lost: CountTest | null;
};

/** `holm`: `p` after Holm, over all comparisons of the group. Null: too few pairs for a test. */
type CountTest = {
  readonly one: number;
  readonly other: number;
  readonly p: number | null;
  readonly holm: number | null;
};

/** Intervals wider than this factor are marked as wide. */
export const WIDEST_FACTOR = 4;
const RATE = 'learning_rate';

/** Powers of ten between the episodes of the fastest and the slowest run, at which the share that has memorised is given. */
export function timesOf(rows: readonly MemoryRow[]): number[] {
  const all = rows.flatMap(({ judged }) => judged.map(({ watched }) => watched)).filter((episodes) => episodes > 0);
  if (all.length === 0) return [];
  const [least, most] = [Math.min(...all), Math.max(...all)].map(Math.log10) as [number, number];
  const first = Math.ceil(least);
  return Array.from({ length: Math.max(0, Math.floor(most) - first + 1) }, (_, index) => 10 ** (first + index));
}

/** Intervals of each row of a group. @param times Episodes at which to give the share that has memorised. */
export function rowIntervals(rows: readonly MemoryRow[], times: readonly number[]): RowIntervals[] {
  const best = bestOf(rows);
  return rows.map((row) => {
    const { judged } = row;
    const curve = new SurvivalCurve(judged.map(waitOf));
    const told = judged.filter((run) => run.told !== null && run.told > 0);
    const episodes = estimate(judged, ({ took }) => took);
    return {
      row,
      bases: new Set(judged.map(({ base }) => base)).size,
      memorised: judged.length === 0 ? null : wilson95(row.counts.memorised, judged.length),
      by: times.map((time) => (judged.length === 0 ? null : curve.happenedBy(time))),
      episodes,
      between: intraclass(judged.filter((run) => isMemorised(run) && run.took > 0).map(logEpisodes)),
      updates: isCounted(row) ? estimate(judged, updatesOf) : null,
      bits: bitsOver(row, episodes),
      late: estimate(told, (run) => run.took - run.told!),
      ratio: estimate(told, (run) => run.took / run.told!),
      lost: lostOf(judged),
      isBest: best.get(row) ?? null,
    };
  });
}

/** The bits that one episode taught, with their 95 % interval; null: the secret was known from the start, or no run has a verdict. */
export function bitsEstimate(row: MemoryRow): Estimate | null {
  return bitsOver(
    row,
    estimate(row.judged, ({ took }) => took),
  );
}

function bitsOver({ secretBits }: MemoryRow, episodes: Estimate | null): Estimate | null {
  if (episodes === null || episodes.median === 0) return null;
  const [least, most] = episodes.interval;
  return { ...episodes, median: secretBits / episodes.median, interval: [secretBits / most, secretBits / least] };
}

/** Whether every run that memorised counted its updates. */
function isCounted({ judged }: MemoryRow): boolean {
  return judged.every((run) => !isMemorised(run) || run.updates !== null);
}

function updatesOf({ updates }: JudgedSeed): number {
  return updates ?? Infinity;
}

function lostOf(judged: readonly JudgedSeed[]): RowIntervals['lost'] {
  const knew = judged.filter(isKnown);
  const count = knew.filter(isLost).length;
  return knew.length === 0 ? null : { count, of: knew.length, interval: wilson95(count, knew.length) };
}

/** Whether a run ever knew the secret for long. */
function isKnown(run: JudgedSeed): boolean {
  return isMemorised(run) || isLost(run);
}

function isLost({ timesLost }: JudgedSeed): boolean {
  return timesLost > 0;
}

function estimate(runs: readonly JudgedSeed[], valueOf: (run: JudgedSeed) => number): Estimate | null {
  return medianEstimate(runs.map((run) => ({ cluster: run.base, value: valueOf(run) })));
}

/** The median of a cell and its interval; null: there are no values. */
export function medianEstimate(cell: readonly Clustered<number>[]): Estimate | null {
  const middle = median(cell.map(({ value }) => value));
  const interval = medianInterval(cell);
  return middle === null || interval === null ? null : { median: middle, interval, runs: cell.length };
}

function logEpisodes({ base, took }: JudgedSeed): Clustered<number> {
  return { cluster: base, value: Math.log(took) };
}

function waitOf(run: JudgedSeed): Wait {
  return { time: run.watched, isEvent: isMemorised(run) };
}

function isMemorised({ took }: JudgedSeed): boolean {
  return took < Infinity;
}

/**
 * The best learning rate among rows that differ in it alone. Rows that differ in other parameters are compared with
 * each other instead.
 */
function bestOf(rows: readonly MemoryRow[]): Map<MemoryRow, boolean> {
  const best = new Map<MemoryRow, boolean>();
  const judged = rows.filter(({ judged, extra }) => judged.length > 0 && extra[RATE] !== undefined);
  const alike = groupBy(judged, ({ condition, N, bins, extra }) =>
    JSON.stringify([condition, N, bins, { ...extra, [RATE]: null }]),
  );
  for (const family of alike.values()) {
    if (family.length < 2) continue;
    const [first] = family.toSorted((a, b) => shareOf(b) - shareOf(a) || wait(a) - wait(b));
    for (const row of family) best.set(row, row === first);
  }
  return best;
}

function shareOf({ counts, judged }: MemoryRow): number {
  return counts.memorised / judged.length;
}

function wait({ medianOfAll }: MemoryRow): number {
  // Two infinite medians are equal, and their difference is not a number.
  return Math.min(medianOfAll ?? Infinity, Number.MAX_VALUE);
}

/**
 * All pairs of rows of the same size that have verdicts; among rows that differ in the learning rate alone, only the
 * best counts.
 */
export function comparisons(rows: readonly MemoryRow[]): Comparison[] {
  const best = bestOf(rows);
  const judged = rows.filter((row) => row.judged.length > 0 && best.get(row) !== false);
  const found = judged.flatMap((one, index) =>
    judged
      .slice(index + 1)
      .filter((other) => other.N === one.N)
      .map((other) => compareRows(one, other)),
  );
  const adjusted = holm(found.map(({ p }) => p));
  const memorised = adjustedCounts(found.map(({ memorised: own }) => own));
  const lost = adjustedCounts(found.map(({ lost: own }) => own));
  return found.map((each, at) => ({ ...each, holm: adjusted[at]!, memorised: memorised[at]!, lost: lost[at]! }));
}

function adjustedCounts(counts: readonly (CountTest | null)[]): (CountTest | null)[] {
  const adjusted = holm(counts.map((each) => each?.p ?? null));
  return counts.map((each, index) => each && { ...each, holm: adjusted[index]! });
}

function compareRows(one: MemoryRow, other: MemoryRow): Omit<Comparison, 'holm'> {
  const pairs = pairsOf(one, other);
  return pairs.length === 0 ? compareIndependent(one, other) : comparePaired({ one, other }, pairs);
}

type Pair = { readonly run: JudgedSeed; readonly partner: JudgedSeed };

function pairsOf(one: MemoryRow, other: MemoryRow): Pair[] {
  const partners = new Map(other.judged.map((run) => [run.pair, run]));
  return one.judged.flatMap((run) => {
    const partner = partners.get(run.pair);
    return partner === undefined ? [] : [{ run, partner }];
  });
}

/** Comparison of reinforcement learning with supervised learning of secrets of the same size. */
export type SupervisedComparison = {
  readonly sft: MemoryRow;
  readonly rl: MemoryRow;
  readonly pairs: number;
  /**
   * Ratios of episodes to examples, and of updates to updates, over the same seeds and secrets. Null: not all runs
   * counted them.
   */
  readonly episodes: Estimate | null;
  readonly updates: Estimate | null;
  /**
   * The secret's bits divided by the most bits of an episode: the ratio for a learner that uses all information it
   * gets.
   */
  readonly theory: number;
};

/**
 * Compares every row of reinforcement learning with every row of supervised learning that shares at least six secrets;
 * among rows that differ in the learning rate alone, only the best.
 */
export function besideExamples(rows: readonly MemoryRow[]): SupervisedComparison[] {
  const best = bestOf(rows);
  const judged = rows.filter((row) => best.get(row) !== false);
  const examples = judged.filter(({ kind }) => kind === 'sft');
  return judged
    .filter(({ kind }) => kind !== 'sft')
    .flatMap((rl) => examples.filter(({ N }) => N === rl.N).map((sft) => ({ rl, sft, pairs: pairsOf(sft, rl) })))
    .filter(({ pairs }) => pairs.length >= LEAST_PAIRS)
    .map(({ rl, sft, pairs }) => ({
      ...{ rl, sft, pairs: pairs.length, theory: rl.secretBits / rl.ceiling.bits },
      episodes: ratioOf(logRatios(pairs, ({ took }) => took)),
      updates: isCounted(sft) && isCounted(rl) ? ratioOf(logRatios(pairs, updatesOf)) : null,
    }));
}

/** Logarithms of the partners' counts divided by the runs' own, for pairs of which at least one memorised. */
function logRatios(pairs: readonly Pair[], countOf: (run: JudgedSeed) => number): Clustered<number>[] {
  const memorised = pairs.filter(({ run, partner }) => isMemorised(run) || isMemorised(partner));
  return memorised.map(({ run, partner }) => {
    const value = Math.log(countOf(partner)) - Math.log(countOf(run));
    return { cluster: JSON.stringify([run.base, partner.base]), value };
  });
}

function ratioOf(logs: readonly Clustered<number>[]): Estimate | null {
  const log = medianEstimate(logs);
  return log && { ...log, median: Math.exp(log.median), interval: exponentials(log.interval) };
}

function comparePaired(rows: Pick<Comparison, 'one' | 'other'>, pairs: readonly Pair[]): Omit<Comparison, 'holm'> {
  const logs = logRatios(pairs, ({ took }) => took);
  const ratio = ratioOf(logs);
  const p = pairs.length < LEAST_PAIRS ? null : signedRankTest(logs.map(({ value }) => value));
  const knew = pairs.filter(({ run, partner }) => isKnown(run) && isKnown(partner));
  const lost = knew.some(({ run, partner }) => isLost(run) || isLost(partner)) ? onlyOne(knew, isLost) : null;
  return { ...rows, pairs: pairs.length, ratio, p, memorised: onlyOne(pairs, isMemorised), lost };
}

/** Pairs of which only one has the property, with the sign test. */
function onlyOne(pairs: readonly Pair[], has: (run: JudgedSeed) => boolean): CountTest {
  const one = pairs.filter(({ run, partner }) => has(run) && !has(partner)).length;
  const other = pairs.filter(({ run, partner }) => !has(run) && has(partner)).length;
  return { one, other, p: pairs.length < LEAST_PAIRS ? null : signTest(one, other), holm: null };
}

function exponentials([low, high]: Interval): Interval {
  return [Math.exp(low), Math.exp(high)];
}

function compareIndependent(one: MemoryRow, other: MemoryRow): Omit<Comparison, 'holm'> {
  const p = logRankTest(one.judged.map(waitOf), other.judged.map(waitOf));
  const knew = [one, other].map(({ judged }) => judged.filter(isKnown));
  const isCompared = knew.every((runs) => runs.length > 0) && knew.flat().some(isLost);
  const memorised = fisherCounts([one.judged, other.judged], isMemorised);
  return { one, other, pairs: 0, ratio: null, p, memorised, lost: isCompared ? fisherCounts(knew, isLost) : null };
}

/** Runs of two samples that have the property, with Fisher's test. */
function fisherCounts(samples: readonly (readonly JudgedSeed[])[], has: (run: JudgedSeed) => boolean): CountTest {
  const [one, other] = samples.map((runs) => ({ runs: runs.length, failed: runs.filter(has).length }));
  const p = fisherTwoSided({ inside: one!, outside: other! });
  return { one: one!.failed, other: other!.failed, p, holm: null };
}
