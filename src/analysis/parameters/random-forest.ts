import { growTree, pointsOf, predict, type RegressionTree, type Sample, type TreeLimits } from './regression-tree.js';
import type { Random } from './seeded-random.js';

/** Trees grown from samples of the runs (bagging, Breiman 1996), and how well they predict runs outside their sample. */
export type Forest = {
  readonly trees: readonly RegressionTree[];
  readonly leafSize: number;
  readonly heldOut: HeldOut;
};

/** Agreement of the objective of each run with the mean prediction of the trees that have not seen it. */
type HeldOut = {
  /** 1 − squared error / variance; negative where the mean of all runs predicts better. */
  readonly r2: number;
  /** Pearson's r. */
  readonly correlation: number;
  /** Number of runs that some tree has not seen. */
  readonly runs: number;
};

/**
 * Grows a forest. Every tree sees a bootstrap sample of the size of the whole. One step is a part of a tree; yields the number of
 * trees that are complete.
 */
export function* growForest(
  sample: Sample,
  { count, ...limits }: TreeLimits & { readonly count: number },
  random: Random,
): Generator<number, Forest> {
  const runs = sample.y.length;
  const trees: RegressionTree[] = [];
  const points = pointsOf(sample.factors, runs);
  yield 0;
  const [sums, asked] = [new Float64Array(runs), new Int32Array(runs)];
  for (let index = 0; index < count; index++) {
    const times = bootstrap(runs, random);
    const growth = growTree(sample, times, limits);
    let step = growth.next();
    for (; step.done !== true; step = growth.next()) yield index;
    const tree = step.value;
    trees.push(tree);
    for (let row = 0; row < runs; row++) {
      if (times[row]! > 0) continue;
      sums[row]! += predict(tree, points, row * sample.factors.length);
      asked[row]!++;
    }
    yield index + 1;
  }
  const known = [...asked.keys()].filter((row) => asked[row]! > 0);
  const foretold = known.map((row) => sums[row]! / asked[row]!);
  const actual = known.map((row) => sample.y[row]!);
  return { trees, leafSize: limits.leafSize, heldOut: agreement(foretold, actual) };
}

/** Number of times that each run is in a sample of the same size, drawn with replacement. */
function bootstrap(runs: number, random: Random): Uint8Array {
  const times = new Uint8Array(runs);
  for (let drawn = 0; drawn < runs; drawn++) times[Math.floor(random() * runs)]!++;
  return times;
}

function agreement(foretold: readonly number[], actual: readonly number[]): HeldOut {
  const [centreF, centreA] = [meanOf(foretold), meanOf(actual)];
  let [error, spreadF, spreadA, product] = [0, 0, 0, 0];
  foretold.forEach((value, index) => {
    const [f, a] = [value - centreF, actual[index]! - centreA];
    error += (value - actual[index]!) ** 2;
    spreadF += f * f;
    spreadA += a * a;
    product += f * a;
  });
  const isFlat = !(spreadF > 0 && spreadA > 0);
  return {
    r2: spreadA > 0 ? 1 - error / spreadA : 0,
    correlation: isFlat ? 0 : product / Math.sqrt(spreadF * spreadA),
    runs: actual.length,
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
