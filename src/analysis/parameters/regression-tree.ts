import type { Factor } from './factors.js';

/**
 * A binary tree of least squares (CART), as arrays by node; node 0 is the root. Sets of levels are bits of a number: level 3
 * is in the set when bit 3 is.
 */
export type RegressionTree = {
  /** Index of the factor that a node asks for; -1: a leaf. */
  readonly factor: readonly number[];
  /** Levels that go on to the left. */
  readonly leftLevels: readonly number[];
  readonly left: readonly number[];
  readonly right: readonly number[];
  /** Mean of the runs that came here when the tree was grown. */
  readonly value: readonly number[];
  /** Squared error that a node takes away; 0 for a leaf. */
  readonly gain: readonly number[];
};

export type TreeLimits = {
  /** Fewer runs than this are not made a leaf. */
  readonly leafSize: number;
  readonly depth: number;
};

/** What a tree is grown from. `y`: by run. */
export type Sample = { readonly factors: readonly Factor[]; readonly y: Float64Array };

/** A gain must exceed another by this share of the error to be larger: rounding must not decide which way a tree grows. */
const CLEARLY = 1e-9;

/** A part of no more rows is grown without a pause: some tenths of a millisecond. */
const AT_ONCE = 256;

/**
 * A step is at most a few hundred rows, or one look at more of them.
 *
 * @param times How often each run counts, by run; 0: the tree does not see it.
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

/** Levels of points side by side: all factors of the first point, all of the second. */
export type Points = Uint8Array;

export function pointsOf(factors: readonly Factor[], runs: number): Points {
  const points = new Uint8Array(runs * factors.length);
  factors.forEach(({ codes }, factor) => codes.forEach((code, run) => (points[run * factors.length + factor] = code)));
  return points;
}

/** What the tree says of the point that begins there. */
export function predict(tree: RegressionTree, points: Points, start: number): number {
  const { factor, leftLevels, left, right } = tree;
  let node = 0;
  for (let asked = factor[0]!; asked >= 0; asked = factor[node]!) {
    node = (leftLevels[node]! >> points[start + asked]!) & 1 ? left[node]! : right[node]!;
  }
  return tree.value[node]!;
}

/** Some of the rows: those from an index to before another. */
type Part = { readonly from: number; readonly to: number; readonly depth: number };
/** Rows, and the levels that can come to them. */
type Side = readonly [part: Part, boxes: readonly number[]];
type Below = { readonly left: Side; readonly right: Side };
type Split = { readonly factor: number; readonly leftLevels: number; readonly gain: number };
/** Of the runs of one part: how many there are, and the sums of y and of its squares. */
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
  /** By level, of the factor and part that is looked at. */
  readonly #sums = new Float64Array(32);
  readonly #counts = new Int32Array(32);
  /** How often each row of the part counts, and its y so many times, side by side: they are read once per factor. */
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

  /** The node of these rows and all below it. `boxes`: levels that can come here, by factor. Gives its index. */
  *inSteps(part: Part, boxes: readonly number[]): Generator<void, number> {
    if (part.to - part.from <= AT_ONCE) return this.#whole(part, boxes);
    const { node, below } = this.#grown(part, boxes);
    yield;
    if (below === null) return node;
    this.tree.left[node] = yield* this.inSteps(...below.left);
    this.tree.right[node] = yield* this.inSteps(...below.right);
    return node;
  }

  /** The same at once. */
  #whole(part: Part, boxes: readonly number[]): number {
    const { node, below } = this.#grown(part, boxes);
    if (below === null) return node;
    this.tree.left[node] = this.#whole(...below.left);
    this.tree.right[node] = this.#whole(...below.right);
    return node;
  }

  /** The node alone, and the rows and levels of the two below it; null: it is a leaf. */
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
   * The split that takes the most from the squared error, the first of those alike; null where none is allowed or nothing is
   * left to explain. It may take nothing: of two factors that work only together, one alone does not help.
   */
  #bestSplit(part: Part, boxes: readonly number[], total: Total): Split | null {
    if (part.depth >= this.#limits.depth || total.count < 2 * this.#limits.leafSize) return null;
    const error = total.squares - (total.sum * total.sum) / total.count;
    let best: Split = { factor: -1, leftLevels: 0, gain: -Infinity };
    if (!(error > 1e-12 * total.count)) return null;
    for (let factor = 0; factor < boxes.length; factor++) {
      const box = boxes[factor]!;
      // A set of a single level.
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
   * The best cut through the levels in their order; those without an order are put in the order of their means, which is
   * exact for squared error (Breiman et al. 1984, section 4.2).
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

  /** Levels that runs here have. */
  #presentLevels(factor: number, box: number): number[] {
    const present: number[] = [];
    for (let level = 0; box >> level !== 0; level++) if (this.#counts[level]! > 0) present.push(level);
    if (this.#sample.factors[factor]!.isOrdered) return present;
    const meanOf = (level: number) => this.#sums[level]! / this.#counts[level]!;
    return present.sort((a, b) => meanOf(a) - meanOf(b));
  }

  /** Puts the rows that go left before the others. Gives the index of the first that goes right. */
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

/** The levels before one. */
function below(level: number): number {
  return 2 ** level - 1;
}

function setOf(levels: readonly number[]): number {
  return levels.reduce((set, level) => set | (1 << level), 0);
}

/** The boxes with one of them cut down to these levels. */
export function within(boxes: readonly number[], factor: number, levels: number): number[] {
  const cut = boxes.slice();
  cut[factor]! &= levels;
  return cut;
}
