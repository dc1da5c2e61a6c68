import type { Factor } from './factors.js';
import type { Random } from './seeded-random.js';

/**
 * A binary least-squares tree (CART), as arrays by node; node 0 is the root. A set of levels is a bit mask: level 3 is in the set
 * when bit 3 is set.
 */
export type RegressionTree = {
  /** Index of the factor on which a node splits; -1: a leaf. */
  readonly factor: readonly number[];
  /** Levels that go to the left child. */
  readonly leftLevels: readonly number[];
  readonly left: readonly number[];
  readonly right: readonly number[];
  /** Mean of the training runs at this node. */
  readonly value: readonly number[];
  /** Reduction of the squared error by this node's split; 0 for a leaf. */
  readonly gain: readonly number[];
};

type TreeLimits = {
  /** Least number of runs in a leaf. */
  readonly leafSize: number;
  readonly depth: number;
};

/** The training data of a tree. `y`: the objective for each run. */
export type Sample = { readonly factors: readonly Factor[]; readonly y: Float64Array };

/**
 * A gain counts as larger only if it exceeds the other by this share of the error, so that rounding does not decide how a tree
 * grows.
 */
const CLEARLY = 1e-9;

/** A part with no more rows is grown in one step, which takes some tenths of a millisecond. */
const AT_ONCE = 256;

/**
 * Grows a tree in steps. One step is a part of at most a few hundred rows, or one pass over more of them.
 *
 * @param times How often each run counts; 0: the tree does not see it.
 */
export function* growTree(sample: Sample, times: Uint8Array, limits: TreeLimits): Generator<void, RegressionTree> {
  const growth = new Growth(sample, times, limits);
  const seen = times.reduce((sum, often) => sum + Math.min(often, 1), 0);
  yield* growth.inSteps({ from: 0, to: seen, depth: 0 }, sample.factors.map(allLevels));
  return growth.tree;
}

/** The set of all levels of a factor. */
export function allLevels({ levels }: Factor): number {
  return 2 ** levels.length - 1;
}

/** Levels of points, one point after another: all factors of the first point, all of the second. */
type Points = Uint8Array;

function pointsOf(factors: readonly Factor[], runs: number): Points {
  const points = new Uint8Array(runs * factors.length);
  factors.forEach(({ codes }, factor) => codes.forEach((code, run) => (points[run * factors.length + factor] = code)));
  return points;
}

/** The tree's prediction for the point that begins at `start`. */
export function predict(tree: RegressionTree, points: Points, start: number): number {
  const { factor, leftLevels, left, right } = tree;
  let node = 0;
  for (let asked = factor[0]!; asked >= 0; asked = factor[node]!) {
    node = (leftLevels[node]! >> points[start + asked]!) & 1 ? left[node]! : right[node]!;
  }
  return tree.value[node]!;
}

/** A range of rows, without the one at `to`. */
type Part = { readonly from: number; readonly to: number; readonly depth: number };
/** A part, and for each factor the levels that can reach it. */
type Side = readonly [part: Part, boxes: readonly number[]];
type Below = { readonly left: Side; readonly right: Side };
type Split = { readonly factor: number; readonly leftLevels: number; readonly gain: number };
/** Number of runs of a part, and the sums of y and of its squares. */
type Total = { readonly count: number; readonly sum: number; readonly squares: number };

/** One tree while it grows. */
class Growth {
  readonly tree = {
    factor: [] as number[],
    leftLevels: [] as number[],
    left: [] as number[],
    right: [] as number[],
    value: [] as number[],
    gain: [] as number[],
  };
  readonly #sample: Sample;
  readonly #rows: Int32Array;
  readonly #limits: TreeLimits;
  /** Sums over the runs of the current part, by level of the current factor. */
  readonly #sums = new Float64Array(32);
  readonly #counts = new Int32Array(32);
  /** For each row of the part how often it counts, and that number times its y, in row order: they are read once per factor. */
  readonly #often: Uint8Array;
  readonly #near: Float64Array;
  readonly #times: Uint8Array;

  constructor(sample: Sample, times: Uint8Array, limits: TreeLimits) {
    this.#sample = sample;
    this.#times = times;
    this.#limits = limits;
    this.#rows = Int32Array.from([...times.keys()].filter((row) => times[row]! > 0));
    this.#often = new Uint8Array(this.#rows.length);
    this.#near = new Float64Array(this.#rows.length);
  }

  /**
   * Grows the node of these rows and all nodes below it, in steps. `boxes`: levels that can reach it, by factor. Returns its index.
   */
  *inSteps(part: Part, boxes: readonly number[]): Generator<void, number> {
    if (part.to - part.from <= AT_ONCE) return this.#whole(part, boxes);
    const { node, below } = this.#grown(part, boxes);
    yield;
    if (below === null) return node;
    this.tree.left[node] = yield* this.inSteps(...below.left);
    this.tree.right[node] = yield* this.inSteps(...below.right);
    return node;
  }

  /** Grows the same in one step. */
  #whole(part: Part, boxes: readonly number[]): number {
    const { node, below } = this.#grown(part, boxes);
    if (below === null) return node;
    this.tree.left[node] = this.#whole(...below.left);
    this.tree.right[node] = this.#whole(...below.right);
    return node;
  }

  /** Adds a single node; `below`: the parts of its children; null: it is a leaf. */
  #grown(part: Part, boxes: readonly number[]): { readonly node: number; readonly below: Below | null } {
    const { tree } = this;
    const total = this.#totalOf(part);
    const node = tree.value.length;
    const split = this.#bestSplit(part, boxes, total);
    tree.value.push(total.sum / total.count);
    tree.factor.push(split?.factor ?? -1);
    tree.leftLevels.push(split?.leftLevels ?? 0);
    tree.gain.push(split?.gain ?? 0);
    tree.left.push(-1);
    tree.right.push(-1);
    if (split === null) return { node, below: null };
    const { from, to } = part;
    const middle = this.#divide(part, split);
    const depth = part.depth + 1;
    const left = [{ from, to: middle, depth }, within(boxes, split.factor, split.leftLevels)] as const;
    const right = [{ from: middle, to, depth }, within(boxes, split.factor, ~split.leftLevels)] as const;
    return { node, below: { left, right } };
  }

  #totalOf({ from, to }: Part): Total {
    const { y } = this.#sample;
    let [count, sum, squares] = [0, 0, 0];
    for (let at = from; at < to; at++) {
      const row = this.#rows[at]!;
      const often = (this.#often[at] = this.#times[row]!);
      const value = (this.#near[at] = often * y[row]!);
      count += often;
      sum += value;
      squares += value * y[row]!;
    }
    return { count, sum, squares };
  }

  /**
   * The split that reduces the squared error most, the first of equal ones; null where none is allowed or no error is left. Its
   * gain may be zero: of two factors that only work together, one alone does not help.
   */
  #bestSplit(part: Part, boxes: readonly number[], total: Total): Split | null {
    if (part.depth >= this.#limits.depth || total.count < 2 * this.#limits.leafSize) return null;
    const error = total.squares - (total.sum * total.sum) / total.count;
    let best: Split = { factor: -1, leftLevels: 0, gain: -Infinity };
    if (!(error > 1e-12 * total.count)) return null;
    for (let factor = 0; factor < boxes.length; factor++) {
      const box = boxes[factor]!;
      // A factor with a single level left cannot be split.
      if ((box & (box - 1)) === 0) continue;
      this.#countLevels(part, factor);
      best = this.#bestOf(factor, box, { ...total, least: CLEARLY * error }, best);
    }
    return best.factor < 0 ? null : best;
  }

  #countLevels({ from, to }: Part, factor: number): void {
    const { codes } = this.#sample.factors[factor]!;
    this.#sums.fill(0);
    this.#counts.fill(0);
    for (let at = from; at < to; at++) {
      const level = codes[this.#rows[at]!]!;
      this.#sums[level]! += this.#near[at]!;
      this.#counts[level]! += this.#often[at]!;
    }
  }

  /**
   * The best cut through the levels in their order; levels without an order are sorted by their means, which is exact for squared
   * error (Breiman et al. 1984, section 4.2).
   */
  #bestOf(factor: number, box: number, total: Total & { readonly least: number }, known: Split): Split {
    const present = this.#presentLevels(factor, box);
    let best = known;
    let [count, sum, cut] = [0, 0, -1];
    for (let index = 0; index + 1 < present.length; index++) {
      count += this.#counts[present[index]!]!;
      sum += this.#sums[present[index]!]!;
      if (count < this.#limits.leafSize || total.count - count < this.#limits.leafSize) continue;
      const gain =
        (sum * sum) / count + (total.sum - sum) ** 2 / (total.count - count) - (total.sum * total.sum) / total.count;
      if (!(gain > best.gain + total.least)) continue;
      best = { factor, leftLevels: 0, gain };
      cut = index;
    }
    if (cut < 0) return best;
    const leftLevels = this.#sample.factors[factor]!.isOrdered
      ? below((present[cut]! + present[cut + 1]! + 1) >> 1)
      : setOf(present.slice(0, cut + 1));
    return { ...best, leftLevels };
  }

  /** The levels that occur in the current part. */
  #presentLevels(factor: number, box: number): number[] {
    const present: number[] = [];
    for (let level = 0; box >> level !== 0; level++) if (this.#counts[level]! > 0) present.push(level);
    if (this.#sample.factors[factor]!.isOrdered) return present;
    const meanOf = (level: number) => this.#sums[level]! / this.#counts[level]!;
    return present.sort((a, b) => meanOf(a) - meanOf(b));
  }

  /** Moves the rows that go left before the others. Returns the index of the first that goes right. */
  #divide({ from, to }: Part, { factor, leftLevels }: Split): number {
    const { codes } = this.#sample.factors[factor]!;
    let [low, high] = [from, to - 1];
    while (low <= high) {
      const row = this.#rows[low]!;
      if ((leftLevels >> codes[row]!) & 1) low++;
      else {
        this.#rows[low] = this.#rows[high]!;
        this.#rows[high--] = row;
      }
    }
    return low;
  }
}

/** The set of the levels below one. */
function below(level: number): number {
  return 2 ** level - 1;
}

function setOf(levels: readonly number[]): number {
  return levels.reduce((set, level) => set | (1 << level), 0);
}

/** The boxes with that of one factor restricted to these levels. */
export function within(boxes: readonly number[], factor: number, levels: number): number[] {
  const cut = boxes.slice();
  cut[factor]! &= levels;
  return cut;
}

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
