import { Refusal } from './refusal.js';

/** Limit of the requests that wait for a missing one before them. */
const MOST_AHEAD = 10_000;

/**
 * Puts the requests on one model into the order of their sequence numbers, which begin with 1: a client sends several at
 * once, and the network changes their order. A number that comes twice is the same request, sent again.
 */
export class Sequence {
  /** Ids of results, by the number of their request. */
  readonly #known = new Map<number, string>();
  readonly #ahead = new Map<number, () => void>();
  #next = 1;

  /**
   * @param number null stands for a client that does not count: its request is next.
   * @param begin Called once every earlier request has begun.
   * @returns the id that `create` made, for this request or for an earlier one of the same number.
   */
  take(number: number | null, create: () => string, begin: (id: string) => void): string {
    if (number === null) {
      const id = create();
      begin(id);
      return id;
    }
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    if (number > this.#next + MOST_AHEAD) {
      throw new Refusal(400, `Request ${number} came while number ${this.#next} is still awaited.`);
    }
    const id = create();
    this.#known.set(number, id);
    if (number > this.#next) this.#ahead.set(number, () => begin(id));
    else begin(id);
    if (number === this.#next) this.#release();
    this.#known.delete(number - 2 * MOST_AHEAD);
    return id;
  }

  #release(): void {
    for (this.#next++; ; this.#next++) {
      const begin = this.#ahead.get(this.#next);
      if (begin === undefined) return;
      this.#ahead.delete(this.#next);
      begin();
    }
  }
}
