import { type Parameters, parameterOf } from '../../base/scalar.js';
import { spansDecades } from '../axis-range.js';
import { type Factor, factorSteps, type LeftOut, type Level } from './factors.js';
import { type Forest, growForest, type RegressionTree, type Sample } from './regression-tree.js';
import { ranksOf } from '../statistics.js';
import { type BestValue, bestValueOf, rankedSettings } from '../answer/ranked-settings.js';
import { noiseOfSeeds, repetitionNames, type SeedNoise, settingSteps } from './settings.js';
import type { Random } from './seeded-random.js';
import {
  addToPairs,
  effectsOf,
  effectVariance,
  forestVariance,
  interactionVariance,
  levelShares,
  type Pair,
  pairTable,
  type TreeEffects,
} from './variance-decomposition.js';

/**
 * One run. `objective` null: it has written none; NaN and infinities are counted, but do not take part in the shares. `isBroken`: it
 * diverged or collapsed, so that it is worse than any other.
 */
export type MeasuredRun = {
  readonly parameters: Parameters;
  readonly objective: number | null;
  readonly isBroken?: boolean | undefined;
  readonly group?: string | undefined;
};

export type ImportanceQuestion = {
  readonly runs: readonly MeasuredRun[];
  /** Which end of the objective is best; null: unknown. */
  readonly goal: 'minimize' | 'maximize' | null;
  /**
   * `rank`: only the order of the objective counts, so that a few runs that diverged do not dominate its variance. Absent: chosen
   * where the values span decades.
   */
  readonly scale?: Scale | undefined;
  /** Parameters that the sweep computes from seeds. */
  readonly fromSeeds?: readonly string[] | undefined;
};

type Scale = 'value' | 'rank';

/** Numbers of runs by their objective. */
type RunCounts = {
  readonly finite: number;
  readonly nan: number;
  readonly infinite: number;
  /** Runs without a value. */
  readonly none: number;
};

/** The effects of the parameters on the objective, or why they cannot be computed. */
export type Importance = { readonly counts: RunCounts; readonly leftOut: readonly LeftOut[] } & (
  | { readonly kind: 'too few runs'; readonly needed: number }
  | { readonly kind: 'one objective' }
  | { readonly kind: 'no parameter' }
  | ({ readonly kind: 'measured' } & Measured)
);

/** Shares are of the variance of the objective over the runs, 0 to 1. */
export type Measured = {
  readonly scale: Scale;
  /** Out-of-bag R² of the forest; the rest is noise, or too fine for so few runs. */
  readonly explained: number;
  /** The forest predicts no better than chance, so that the shares mean nothing. */
  readonly isNoise: boolean;
  /** The parameters, the largest share first. */
  readonly parameters: readonly ParameterEffect[];
  /** Interactions of two of the parameters that matter most, beyond the sum of their main effects; the largest first. */
  readonly pairs: readonly PairEffect[];
  /** The variance between runs that differ in nothing but their seeds; null: there are none. */
  readonly noise: SeedNoise | null;
  readonly trees: number;
  readonly leafSize: number;
};

export type ParameterEffect = {
  readonly name: string;
  /** Parameters that always change together with this one: the share is theirs as well. */
  readonly aliases: readonly string[];
  /** Share of its main effect. */
  readonly share: number;
  /** Standard deviation of the share between trees, each of which has seen another sample of the runs. */
  readonly spread: number;
  readonly trend: Trend;
  /** The parameter's value in the best setting that was run; null where the goal is unknown. */
  readonly best: BestValue | null;
  /** Mean objective at each level, in units of the objective (for ranks: 0 lowest to 1 highest). */
  readonly curve: readonly CurvePoint[];
  /** Number of runs that pass the parameter. */
  readonly runs: number;
};

/** Whether the objective rises with the parameter. `unordered`: the parameter is not numeric. */
export type Trend = 'up' | 'down' | 'mixed' | 'unordered';
type CurvePoint = { readonly level: Level; readonly mean: number; readonly runs: number };
type PairEffect = { readonly names: readonly [string, string]; readonly share: number };

/** With fewer runs there is no result. */
const LEAST_RUNS = 8;
/** Interactions are computed among so many parameters. */
const MOST_PAIRED = 8;
/** Number of trees for up to 500 runs, and for more of them. */
const TREES = { few: 64, many: 32 };
const DEPTH = 14;

/**
 * How much each parameter matters: the share of the variance of the objective that its main effect makes up, by functional
 * analysis of variance of a random forest (Hutter, Hoos and Leyton-Brown, ICML 2014).
 *
 * Differences from the paper: effects are those of the whole forest, not means over those of single trees (a tree follows the
 * noise, the mean of trees does less); volumes of boxes are shares of runs (see `variance-decomposition.ts`); and shares are of the
 * objective's variance, not of the forest's: variance that the forest cannot predict for unseen runs is no parameter's.
 *
 * The forest: bagged regression trees with every parameter tried in every split; 64 trees, 32 for more than 500 runs; depth 14;
 * leaves of 1, 3 or 8 runs, whichever predicts unseen runs best, and of 1/400 of the runs, at least 3, where there are more than
 * 500. Numbers with more than 31 values are grouped into 31 levels. The order of the runs does not matter; the same random numbers
 * give the same result.
 *
 * Works in steps of a few milliseconds for 5,000 runs, between which a window can draw. Yields the share that is done, 0 to 1.
 */
export function* importanceSteps(question: ImportanceQuestion, random: Random): Generator<number, Importance> {
  const measured = question.runs.filter(({ objective }) => objective !== null && Number.isFinite(objective));
  const repetition = repetitionNames(question.runs, question.fromSeeds ?? []);
  yield 0;
  const rows = measured.map(({ parameters }) => parameters);
  const { factors, leftOut } = yield* factorSteps(rows, repetition);
  const told = { counts: countsOf(question.runs), leftOut };
  if (measured.length < LEAST_RUNS) return { ...told, kind: 'too few runs', needed: LEAST_RUNS };
  const scale = question.scale ?? (spansDecades(measured.map(({ objective }) => objective!)) ? 'rank' : 'value');
  const objective = objectiveOf(measured, scale);
  if (objective === null) return { ...told, kind: 'one objective' };
  if (factors.length === 0) return { ...told, kind: 'no parameter' };
  yield 0;
  const noise = noiseOfSeeds(yield* settingSteps(measured, repetition), objective.y);
  const bestOf = yield* bestValues(question, repetition);
  const sample = yield* inOneOrder({ factors, y: objective.y });
  const { parameters, ...found } = measuredFrom(yield* analysed(sample, random), objective);
  const withBest = parameters.map((effect) => ({ ...effect, best: bestOf(effect.name) }));
  return { ...told, kind: 'measured', scale, noise, ...found, parameters: withBest };
}

/** Finds the best value of a parameter among all runs: one that broke, or whose objective is not finite, counts as bad. */
function* bestValues(
  { runs, goal }: ImportanceQuestion,
  repetition: ReadonlySet<string>,
): Generator<number, (parameter: string) => BestValue | null> {
  if (goal === null) return () => null;
  const settings = yield* settingSteps(runs, repetition);
  const results = runs.map(({ objective, isBroken = false }) => ({ value: objective, isBroken }));
  const ranked = rankedSettings(settings, results, goal);
  return (name) => bestValueOf((parameters) => parameterOf(parameters, name), ranked);
}

function countsOf(runs: readonly MeasuredRun[]): RunCounts {
  const counts = { finite: 0, nan: 0, infinite: 0, none: 0 };
  for (const { objective } of runs) {
    if (objective === null) counts.none++;
    else if (Number.isNaN(objective)) counts.nan++;
    else if (Number.isFinite(objective)) counts.finite++;
    else counts.infinite++;
  }
  return counts;
}

/** The standardised objective (mean 0, variance 1), with its original mean and deviation. */
type Objective = { readonly y: Float64Array; readonly mean: number; readonly deviation: number };

/** The standardised objective; null where all values are equal. */
function objectiveOf(runs: readonly MeasuredRun[], scale: Scale): Objective | null {
  const written = runs.map(({ objective }) => objective!);
  const values = scale === 'value' ? written : ranksOf(written).map((rank) => rank / (written.length - 1));
  // In units of the largest value, so that squares of very large or small numbers do not overflow.
  const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const small = values.map((value) => (size > 0 ? value / size : 0));
  // Summed in ascending order, as the last digit of a sum depends on the order.
  const rising = Float64Array.from(small).sort();
  const mean = rising.reduce((sum, value) => sum + value, 0) / small.length;
  const deviation = Math.sqrt(rising.reduce((sum, value) => sum + (value - mean) ** 2, 0) / small.length);
  if (!(deviation > 1e-12)) return null;
  const y = Float64Array.from(small, (value) => (value - mean) / deviation);
  return { y, mean: mean * size, deviation: deviation * size };
}

/**
 * Sorts the runs by their levels, then by the objective: whatever the order in which they come, the same ones are drawn. Sorts by
 * the least significant key first, one step per factor.
 */
function* inOneOrder({ factors, y }: Sample): Generator<number, Sample> {
  // Sorted by size before sign, so that negating the objective keeps most of the order.
  let order: readonly number[] = [...y.keys()].sort((a, b) => Math.abs(y[a]!) - Math.abs(y[b]!) || y[a]! - y[b]!);
  for (const { codes, levels } of factors.toReversed()) {
    const byLevel = levels.map((): number[] => []);
    for (const row of order) byLevel[codes[row]!]!.push(row);
    order = byLevel.flat();
    yield 0;
  }
  return {
    factors: factors.map((factor) => ({ ...factor, codes: Uint8Array.from(order, (row) => factor.codes[row]!) })),
    y: Float64Array.from(order, (row) => y[row]!),
  };
}

type Analysis = {
  readonly sample: Sample;
  readonly forest: Forest;
  readonly shares: readonly Float64Array[];
  /** Effects of each tree. */
  readonly byTree: readonly TreeEffects[];
  readonly pairs: readonly { readonly pair: Pair; readonly variance: number }[];
  /** Variance of the whole forest's predictions. */
  readonly variance: number;
};

function* analysed(sample: Sample, random: Random): Generator<number, Analysis> {
  const forest = yield* bestForest(sample, random);
  const { factors } = sample;
  const shares = factors.map(levelShares);
  const tables = pairsOf(forest.trees, factors.length).map((pair) => pairTable(pair, shares));
  const byTree: TreeEffects[] = [];
  for (const tree of forest.trees) {
    byTree.push(effectsOf(tree, factors, shares));
    yield GROWN + ((1 - GROWN) * byTree.length) / forest.trees.length;
    addToPairs(tables, tree, 1 / forest.trees.length, { factors, shares });
    yield GROWN + ((1 - GROWN) * byTree.length) / forest.trees.length;
  }
  const pairs = tables.map((table) => ({ pair: table.pair, variance: interactionVariance(table, shares) }));
  const summing = forestVariance(forest.trees, shares, random);
  let step = summing.next();
  for (; step.done !== true; step = summing.next()) yield 1;
  return { sample, forest, shares, byTree, pairs, variance: step.value };
}

/** Share of the work that growing the trees takes. */
const GROWN = 0.7;

/** Grows forests with different leaf sizes and returns the one that predicts unseen runs best. */
function* bestForest(sample: Sample, random: Random): Generator<number, Forest> {
  const runs = sample.y.length;
  const isMany = runs > 500;
  const sizes = isMany
    ? [Math.max(3, Math.ceil(runs / 400))]
    : [1, 3, 8].filter((size) => size === 1 || size * 8 <= runs);
  const count = isMany ? TREES.many : TREES.few;
  let best: Forest | null = null;
  for (const [index, leafSize] of sizes.entries()) {
    const growth = growForest(sample, { count, leafSize, depth: DEPTH }, random);
    let step = growth.next();
    for (; step.done !== true; step = growth.next()) {
      yield (GROWN * (index * count + step.value)) / (count * sizes.length);
    }
    if (best === null || step.value.heldOut.r2 > best.heldOut.r2) best = step.value;
  }
  return best!;
}

/** All pairs of the factors with the largest gain in the trees. */
function pairsOf(trees: readonly RegressionTree[], factors: number): Pair[] {
  const gains = new Float64Array(factors);
  for (const { factor, gain } of trees) factor.forEach((asked, node) => asked >= 0 && (gains[asked]! += gain[node]!));
  const chosen = [...gains.keys()].sort((a, b) => gains[b]! - gains[a]!).slice(0, MOST_PAIRED);
  const rising = chosen.sort((a, b) => a - b);
  return rising.flatMap((first, at) => rising.slice(at + 1).map((second): Pair => [first, second]));
}

/** A correlation that chance exceeds once in a hundred: 2.33 standard errors of zero correlation. */
const CHANCE = 2.33;

function measuredFrom(analysis: Analysis, objective: Objective) {
  const { forest, pairs, sample, variance } = analysis;
  const { r2, correlation, runs } = forest.heldOut;
  const explained = Math.max(0, r2);
  const isNoise = explained === 0 || correlation < CHANCE / Math.sqrt(runs);
  const shareOf = (part: number) => (variance > 0 ? Math.min(1, part / variance) * explained : 0);
  const parameters = sample.factors.map((_, factor) => effectOf(factor, analysis, objective));
  return {
    explained,
    isNoise,
    parameters: parameters
      .map(({ variance: own, spread, ...effect }) => ({ ...effect, share: shareOf(own), spread: spread * explained }))
      .sort((a, b) => b.share - a.share),
    pairs: pairs
      .map(({ pair, variance: own }): PairEffect => {
        const names = [sample.factors[pair[0]]!.name, sample.factors[pair[1]]!.name] as const;
        return { names, share: shareOf(own) };
      })
      .sort((a, b) => b.share - a.share),
    trees: forest.trees.length,
    leafSize: forest.leafSize,
  };
}

function effectOf(index: number, { sample, shares, byTree }: Analysis, { mean, deviation }: Objective) {
  const factor = sample.factors[index]!;
  const effect = meanEffect(byTree.map(({ effects }) => effects[index]!));
  const own = byTree.map(({ effects, variance }) => effectVariance(effects[index]!, shares[index]!) / (variance || 1));
  const counts = new Int32Array(factor.levels.length);
  for (const code of factor.codes) counts[code]!++;
  const curve = factor.levels.map((level, code): CurvePoint => {
    return { level, mean: mean + deviation * effect[code]!, runs: counts[code]! };
  });
  return {
    name: factor.name,
    aliases: factor.aliases,
    runs: factor.passed,
    variance: effectVariance(effect, shares[index]!),
    spread: standardDeviation(own),
    trend: trendOf(factor, effect, shares[index]!),
    curve,
  };
}

function meanEffect(effects: readonly Float64Array[]): Float64Array {
  return effects[0]!.map((_, level) => effects.reduce((sum, effect) => sum + effect[level]!, 0) / effects.length);
}

function standardDeviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

/** From this correlation with the rank of the numbers on, an effect is monotonic. */
const ONE_WAY = 0.8;

/** The trend by the correlation of the effect with the rank of the number, over runs. */
function trendOf({ levels }: Factor, effect: Float64Array, shares: Float64Array): Trend {
  const numbers = [...levels.keys()].filter((code) => isNumber(levels[code]!));
  if (numbers.length < 2) return 'unordered';
  let before = 0;
  const points = numbers.map((code) => {
    const weight = shares[code]!;
    before += weight;
    return { x: before - weight / 2, y: effect[code]!, weight };
  });
  const r = weightedCorrelation(points, before);
  return r >= ONE_WAY ? 'up' : r <= -ONE_WAY ? 'down' : 'mixed';
}

function isNumber(level: Level): boolean {
  return level.kind === 'range' || typeof level.value === 'number';
}

type Weighted = { readonly x: number; readonly y: number; readonly weight: number };

/** The weighted correlation; 0 where one variable is constant. @param total Sum of the weights. */
function weightedCorrelation(points: readonly Weighted[], total: number): number {
  const x = points.reduce((sum, point) => sum + point.weight * point.x, 0) / total;
  const y = points.reduce((sum, point) => sum + point.weight * point.y, 0) / total;
  const moment = (of: (point: Weighted) => number) => points.reduce((sum, point) => sum + point.weight * of(point), 0);
  const size = moment((point) => (point.x - x) ** 2) * moment((point) => (point.y - y) ** 2);
  return size > 0 ? moment((point) => (point.x - x) * (point.y - y)) / Math.sqrt(size) : 0;
}
