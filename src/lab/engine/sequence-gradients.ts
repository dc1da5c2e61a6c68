import type { Engine, Floats, ForwardOptions, PromptGroup, TokenScores } from './engine.js';

/** Derivatives of a loss by the scores of one sequence's tokens, as `backward` takes them. */
type Slopes = { readonly dLogprob: Floats; readonly dEntropy: Floats | null };

/** What a sequence adds to the loss, and where it stands in the order of `TokenScores`. */
export type SequenceGradient = {
  readonly group: number;
  readonly continuation: number;
  readonly gradient: Float32Array;
};

/**
 * The gradient of each sequence's own part of a loss, one after the other, in the order of `TokenScores`. Where the loss is a
 * sum over sequences they sum to the gradient of the batch, up to rounding.
 *
 * Each is a forward and a backward of its own, so that any engine can do it and no more than one gradient is held. What the
 * engine had kept for `backward` and accumulated in its gradient is lost; it ends with no gradient.
 *
 * @param slopes The derivatives of that part of the loss, given the sequence's scores.
 */
export async function* sequenceGradients(
  engine: Engine,
  groups: readonly PromptGroup[],
  slopes: (scores: TokenScores, group: number, continuation: number) => Slopes,
  options: ForwardOptions = {},
): AsyncGenerator<SequenceGradient> {
  await engine.clearGradient();
  for (const [group, { prompt, continuations }] of groups.entries()) {
    for (const [continuation, tokens] of continuations.entries()) {
      const scores = await engine.forward([{ prompt, continuations: [tokens] }], options);
      const { dLogprob, dEntropy } = slopes(scores, group, continuation);
      await engine.backward(dLogprob, dEntropy);
      const gradient = await engine.gradient();
      await engine.clearGradient();
      yield { group, continuation, gradient };
    }
  }
}
