/** Updates after which the sums are added up anew, so that rounding cannot build up. */
const REBUILD = 4096;

/**
 * Draws from a softmax over many arms of which a few change at a time: the weights e^logit in a Fenwick tree (Fenwick
 * 1994), so that a draw and a change cost log N instead of N.
 */
export class WeightedChoice {
  readonly #logits: Float64Array;
  readonly #weights: Float64Array;
  readonly #sums: Float64Array;
  readonly #top: number;
  #total = 0;
  #changes = 0;

  /** All logits begin at 0: every arm is equally likely. */
  constructor(size: number) {
    this.#logits = new Float64Array(size);
    this.#weights = new Float64Array(size).fill(1);
    this.#sums = new Float64Array(size + 1);
    this.#top = 2 ** Math.floor(Math.log2(size));
    this.#rebuild();
  }

  probability(arm: number): number {
    return this.#weights[arm]! / this.#total;
  }

  /** @param uniform In [0, 1). */
  draw(uniform: number): number {
    let rest = uniform * this.#total;
    let at = 0;
    for (let stride = this.#top; stride >= 1; stride /= 2) {
      const next = at + stride;
      if (next < this.#sums.length && this.#sums[next]! <= rest) {
        at = next;
        rest -= this.#sums[next]!;
      }
    }
    return Math.min(at, this.#weights.length - 1);
  }

  /** Adds to a logit. */
  raise(arm: number, by: number): void {
    this.#logits[arm]! += by;
    const weight = Math.exp(this.#logits[arm]!);
    const change = weight - this.#weights[arm]!;
    this.#weights[arm] = weight;
    if (++this.#changes % REBUILD === 0) return this.#rebuild();
    this.#total += change;
    for (let at = arm + 1; at < this.#sums.length; at += at & -at) this.#sums[at]! += change;
  }

  #rebuild(): void {
    this.#sums.fill(0);
    this.#total = 0;
    this.#weights.forEach((weight, arm) => {
      this.#total += weight;
      const at = arm + 1;
      this.#sums[at]! += weight;
      const above = at + (at & -at);
      if (above < this.#sums.length) this.#sums[above]! += this.#sums[at]!;
    });
  }
}
