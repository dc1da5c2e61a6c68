/** The gradient noise scale of a checkpoint, in prompts. */
import type { Floats } from '../../engine/engine.js';
import { fisherKernel } from '../../probes/fisher-kernel.js';
import { noiseOfExamples, noiseOfTwoBatches, type NoiseEstimate } from '../../probes/gradient-noise.js';
import { effectiveSampleSize } from '../../probes/importance-sampling.js';
import { dot } from '../../probes/vectors.js';
import type { UpdateBatch } from './batches.js';

/**
 * The noise scale from microbatches of one prompt of U; and `two_sizes`, from separately drawn prompts: the first half
 * one by one, and the mean of the second half.
 *
 * @param drawn Gradients of these other prompts; null when there are none.
 */
export function noiseOf(
  gradients: readonly Floats[],
  { weights_PG }: Pick<UpdateBatch, 'weights_PG'>,
  drawn: readonly Floats[] | null,
) {
  const half = drawn === null ? 0 : Math.floor(drawn.length / 2);
  const squares = drawn?.slice(0, half).map((each) => dot(each, each)) ?? [];
  const twoSizes = drawn === null ? null : noiseOfTwoBatches(squares, fisherKernel(drawn.slice(half)));
  return {
    ...resultOf(noiseOfExamples(fisherKernel(gradients))),
    two_sizes: twoSizes === null ? null : resultOf(twoSizes),
    ess: effectiveSampleSize(weights_PG.flat()),
  };
}

function resultOf({ scale, ...rest }: NoiseEstimate) {
  return { ...rest, b_simple: scale };
}
