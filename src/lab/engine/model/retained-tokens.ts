/** Floats of scores kept for one sequence; beyond that only its keys and values are reused. */
const MOST_FLOATS = 1 << 17;

/**
 * What a sequence's cache still holds from earlier decoders of the same weights and prompt: the tokens whose keys and
 * values are there, and the scores after some of them.
 *
 * While the weights stay as they are, the same tokens give the same bits. A policy that has settled says the same again
 * and again, and then nothing of it has to be computed anew.
 */
export class RetainedTokens {
  readonly #tokens: number[] = [];
  /** Scores of the next token, by the number of tokens before it. */
  readonly #scores = new Map<number, Float32Array>();

  /** How many of `tokens`, put after the first `length`, are retained as they are. */
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
    if (isFirst || (this.#scores.size + 1) * scores.length <= MOST_FLOATS) this.#scores.set(length, scores.slice());
  }

  /** The cache now holds `tokens` from position `length` on; whatever was there is gone. */
  replace(length: number, tokens: ArrayLike<number>): void {
    this.#tokens.length = length;
    for (let i = 0; i < tokens.length; i++) this.#tokens.push(tokens[i]!);
    for (const kept of this.#scores.keys()) if (kept > length) this.#scores.delete(kept);
  }
}
