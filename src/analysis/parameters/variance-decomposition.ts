import type { Factor } from './factors.js';
import { allLevels, predict, type RegressionTree, within } from './regression-tree.js';
import type { Random } from './seeded-random.js';

/**
 * The functional analysis of variance (Hoeffding 1948; Sobol' 1993) of regression trees, as in Hutter, Hoos and Leyton-Brown (ICML
 * 2014): exact, because a tree is constant on boxes, and the integral over a box is its value times its volume.
 *
 * The volume of a box is the product over the parameters of the share of the runs whose value is in its side: parameters are taken
 * as independent, each with its distribution over the runs. Hutter et al. take lengths of intervals; shares of runs do not depend
 * on whether a learning rate is varied on a linear or a logarithmic scale.
 */

/** Share of the runs at each level of a factor. */
export function levelShares({ levels, codes }: Factor): Float64Array {
  const shares = new Float64Array(levels.length);
  for (const code of codes) shares[code]! += 1 / codes.length;
  return shares;
}

/**
 * Main effects of a tree. `effects`: for each factor and level, the difference of the mean over all other factors from the overall
 * mean.
 */
export type TreeEffects = { readonly effects: readonly Float64Array[]; readonly variance: number };

export function effectsOf(
  tree: RegressionTree,
  factors: readonly Factor[],
  shares: readonly Float64Array[],
): TreeEffects {
  const effects = shares.map(({ length }) => new Float64Array(length));
  let [mean, squares] = [0, 0];
  forEachLeaf(tree, factors, (value, box) => {
    const { sides, volume } = measured(box, factors, shares);
    mean += value * volume;
    squares += value * value * volume;
    // A leaf that does not depend on a factor adds the same to all its levels, which centring would remove.
    sides.forEach((side, factor) => {
      if (side > 0) addTo(effects[factor]!, box[factor]!, (value * volume) / side);
    });
  });
  effects.forEach((effect, factor) => centre(effect, shares[factor]!));
  return { effects, variance: Math.max(0, squares - mean * mean) };
}

/** Variance of an effect over the levels of its factor. */
export function effectVariance(effect: Float64Array, shares: Float64Array): number {
  return effect.reduce((sum, value, level) => sum + shares[level]! * value * value, 0);
}

/** Two factors, by index, the first below the second. */
export type Pair = readonly [first: number, second: number];

/** Mean prediction for two factors, by the levels of the first and of the second. */
type PairTable = { readonly pair: Pair; readonly rows: readonly Float64Array[] };

export function pairTable(pair: Pair, shares: readonly Float64Array[]): PairTable {
  return { pair, rows: Array.from(shares[pair[0]]!, () => new Float64Array(shares[pair[1]]!.length)) };
}

/** Adds the predictions of one tree to the tables, times `weight`. */
export function addToPairs(
  tables: readonly PairTable[],
  tree: RegressionTree,
  weight: number,
  { factors, shares }: { readonly factors: readonly Factor[]; readonly shares: readonly Float64Array[] },
): void {
  forEachLeaf(tree, factors, (value, box) => {
    const { sides, volume } = measured(box, factors, shares);
    for (const { pair, rows } of tables) {
      const [first, second] = pair;
      // As for one factor: only leaves that depend on both can contain an interaction.
      if (sides[first] === 0 || sides[second] === 0) continue;
      const density = (weight * value * volume) / (sides[first]! * sides[second]!);
      forEachLevel(box[first]!, (level) => addTo(rows[level]!, box[second]!, density));
    }
  });
}

/** The variance of the interaction of two factors, beyond the sum of their main effects. */
export function interactionVariance({ pair, rows }: PairTable, shares: readonly Float64Array[]): number {
  const [across, down] = [shares[pair[1]]!, shares[pair[0]]!];
  const table = rows.map((row) => row.slice());
  for (const row of table) centre(row, across);
  const means = across.map((_, column) => table.reduce((sum, row, level) => sum + down[level]! * row[column]!, 0));
  return table.reduce((sum, row, level) => {
    const rest = row.map((value, column) => value - means[column]!);
    return sum + down[level]! * effectVariance(rest, across);
  }, 0);
}

/** Limit on the number of points at which the forest is evaluated. */
const MOST_POINTS = 4096;

/**
 * Variance of the forest's prediction over the grid of all parameters: exact where that has no more than 4,096 points; else
 * estimated from 4,096 points drawn from it. Yields after every 256 points.
 */
export function* forestVariance(
  trees: readonly RegressionTree[],
  shares: readonly Float64Array[],
  random: Random,
): Generator<void, number> {
  const size = shares.reduce((product, { length }) => product * length, 1);
  const point = new Uint8Array(shares.length);
  let [weights, sum, squares] = [0, 0, 0];
  for (let index = 0; index < Math.min(size, MOST_POINTS); index++) {
    const weight = size <= MOST_POINTS ? gridPoint(point, index, shares) : randomPoint(point, shares, random);
    let value = 0;
    for (const tree of trees) value += predict(tree, point, 0) / trees.length;
    weights += weight;
    sum += weight * value;
    squares += weight * value * value;
    if (index % 256 === 255) yield;
  }
  return Math.max(0, squares / weights - (sum / weights) ** 2);
}

/** Writes the levels of a grid point. Returns its share of all runs if the factors were independent. */
function gridPoint(point: Uint8Array, index: number, shares: readonly Float64Array[]): number {
  let [rest, weight] = [index, 1];
  shares.forEach((levels, factor) => {
    point[factor] = rest % levels.length;
    rest = Math.floor(rest / levels.length);
    weight *= levels[point[factor]]!;
  });
  return weight;
}

function randomPoint(point: Uint8Array, shares: readonly Float64Array[], random: Random): number {
  shares.forEach((levels, factor) => {
    let [left, level] = [random(), 0];
    while (level + 1 < levels.length && left >= levels[level]!) left -= levels[level++]!;
    point[factor] = level;
  });
  return 1;
}

/** Calls back for each leaf with the levels that can reach it, by factor. */
function forEachLeaf(
  { factor, leftLevels, left, right, value }: RegressionTree,
  factors: readonly Factor[],
  visit: (value: number, box: readonly number[]) => void,
): void {
  const walk = (node: number, box: readonly number[]) => {
    const asked = factor[node]!;
    if (asked < 0) return visit(value[node]!, box);
    walk(left[node]!, within(box, asked, leftLevels[node]!));
    walk(right[node]!, within(box, asked, ~leftLevels[node]!));
  };
  walk(0, factors.map(allLevels));
}

/** The sides of a box as shares of the runs, 0 for a factor of which it has all levels; and the product of the others. */
function measured(box: readonly number[], factors: readonly Factor[], shares: readonly Float64Array[]) {
  const sides = new Float64Array(box.length);
  let volume = 1;
  for (let factor = 0; factor < box.length; factor++) {
    if (box[factor] === allLevels(factors[factor]!)) continue;
    let side = 0;
    forEachLevel(box[factor]!, (level) => (side += shares[factor]![level]!));
    sides[factor] = side;
    volume *= side;
  }
  return { sides, volume };
}

function forEachLevel(levels: number, visit: (level: number) => void): void {
  for (let level = 0; levels >> level !== 0; level++) if ((levels >> level) & 1) visit(level);
}

function addTo(values: Float64Array, levels: number, amount: number): void {
  forEachLevel(levels, (level) => (values[level]! += amount));
}

/** Subtracts the mean over the runs from the values. */
function centre(values: Float64Array, shares: Float64Array): void {
  const mean = values.reduce((sum, value, level) => sum + value * shares[level]!, 0);
  for (let level = 0; level < values.length; level++) values[level]! -= mean;
}
