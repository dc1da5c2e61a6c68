/** Floats of scores kept for one sequence; beyond that only its keys and values are reused. */
const MOST_FLOATS = 1 << 17;

/**
 * The tokens of a sequence whose keys and values its cache still holds from earlier decoders of the same weights and
 * prompt, and the scores after some of them.
 *
 * While the weights stay as they are, the same tokens give the same bits. A policy that has converged repeats its
 * answers, and then nothing has to be computed anew.
 */
export class RetainedTokens {
  readonly #tokens: number[] = [];
  /** Row of the tape that keeps each token's activations; null when none does. */
  readonly #rows: (number | null)[] = [];
  /** Scores of the next token, by the number of tokens before it. */
  readonly #scores = new Map<number, Float32Array>();
  /** Arrays of scores for reuse. */
  readonly #spare: Float32Array[] = [];

  clear(): void {
    this.#tokens.length = 0;
    this.#rows.length = 0;
    for (const scores of this.#scores.values()) this.#spare.push(scores);
    this.#scores.clear();
  }

  /** Whether the sequence begins with these tokens, and each has a row on the tape. */
  hasRows(tokens: Int32Array, count: number): boolean {
    for (let i = 0; i < count; i++) if (this.#tokens[i] !== tokens[i] || this.#rows[i] === null) return false;
    return true;
  }

  /** The tape's row of a token that `hasRows`. */
  rowOf(index: number): number {
    return this.#rows[index]!;
  }

  /** How many of `tokens`, put after the first `length`, are retained. */
  match(length: number, tokens: readonly number[]): number {
    let same = 0;
    while (same < tokens.length && this.#tokens[length + same] === tokens[same]) same++;
    return same;
  }

  /** The scores after `length` tokens, if they were kept. */
  scoresAfter(length: number): Float32Array | undefined {
    return this.#scores.get(length);
  }

  /** Keeps the scores after `length` tokens. */
  keep(length: number, scores: Float32Array): void {
    const isFirst = this.#scores.size === 0;
    if (!isFirst && (this.#scores.size + 1) * scores.length > MOST_FLOATS) return;
    // An array is reused: to allocate one took longer than to compute its numbers.
    const room = this.#scores.get(length) ?? this.#spare.pop();
    if (room === undefined) this.#scores.set(length, scores.slice());
    else {
      room.set(scores);
      this.#scores.set(length, room);
    }
  }

  /**
   * Records that the cache holds `tokens` from position `length` on; later ones are gone.
   * @param row Tape row of the first token.
   */
  replace(length: number, tokens: ArrayLike<number>, row: number | null): void {
    this.#tokens.length = length;
    this.#rows.length = length;
    for (let i = 0; i < tokens.length; i++) {
      this.#tokens.push(tokens[i]!);
      this.#rows.push(row === null ? null : row + i);
    }
    for (const [kept, scores] of this.#scores) {
      if (kept <= length) continue;
      this.#scores.delete(kept);
      this.#spare.push(scores);
    }
  }
}
