/**
 * For work in a loop that may be long: says when it has used up its part of this turn of the event loop, so that others can
 * have theirs.
 *
 * ```ts
 * const turn = new TurnBudget(10);
 * for (const record of records) {
 *   if (turn.isSpent) await turn.next();
 *   write(record);
 * }
 * ```
 */
export class TurnBudget {
  readonly #ms: number;
  #until: number;

  /** @param ms For the work in one turn. It begins now. */
  constructor(ms: number) {
    this.#ms = ms;
    this.#until = performance.now() + ms;
  }

  get isSpent(): boolean {
    return performance.now() > this.#until;
  }

  /** Resolves in the next turn: what has come in meanwhile has had its say. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#until = performance.now() + this.#ms;
  }
}
