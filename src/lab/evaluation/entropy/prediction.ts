/** The change of the entropy to first order, from the batch E, with what is of second order in it. */
import type { Engine, Floats } from '../../engine/engine.js';
import { entropyDerivatives, entropySlope, type EntropySlope } from '../../probes/entropy-derivative.js';
import { errorOfSum, total, type ScoredSequence } from '../../probes/entropy-estimates.js';
import { gradientOf, movedAlong, scoresOf, type Batch } from '../../probes/scored-batch.js';
import { dot, norm } from '../../probes/vectors.js';
import { changeAt, type Along } from './changes.js';
import type { EntropyConfig } from './keys.js';
import type { Update } from './update.js';

type Prediction = {
  readonly E: Batch;
  readonly scores: readonly ScoredSequence[];
  readonly update: Update;
};

/** Length of the difference of weights by which derivatives along a direction are taken, either way. */
const nudge = { double: 1e-4, single: 1e-2 };

export async function predicted(engine: Engine, { E, scores, update }: Prediction, config: EntropyConfig) {
  const { per, credit, temperature } = config;
  const { direction, baseline, groupGradients, part } = update;
  const slopes = await slopesAlong(engine, E, direction, config);
  const slope = entropySlope(scores, slopes, { per, credit });
  const plain = entropySlope(scores, slopes, { per, credit: 'whole' });
  const withoutDenominator = entropySlope(scores, slopes, { per, credit, hasDenominator: false });
  const ofEntropy = await gradientOf(engine, E, entropyDerivatives(scores, { per, credit }), temperature);
  const perPrompt = groupGradients.map((gradient) => dot(ofEntropy, part(gradient)) / groupGradients.length);
  return {
    method: credit,
    delta_h_per_lr: slope.value,
    standard_error: slope.standardError,
    by_backward: dot(ofEntropy, direction),
    baseline: dot(ofEntropy, baseline),
    per_prompt: perPrompt,
    whole: { delta_h_per_lr: plain.value, standard_error: plain.standardError },
    /** Of the two estimates' difference: what truth and prediction may differ by. */
    difference: differenceOf(slope, plain),
    without_denominator: withoutDenominator.value,
    num_sequences: scores.length,
    num_tokens: total(scores.map(({ logprobs }) => logprobs.length)),
    ...(await curvature(engine, { E, scores, direction, slope: plain.value }, config)),
  };
}

function differenceOf(a: EntropySlope, b: EntropySlope) {
  const influences = a.influences.map((each, index) => each - b.influences[index]!);
  return { value: a.value - b.value, standard_error: errorOfSum(influences) };
}

async function slopesAlong(
  engine: Engine,
  E: Batch,
  direction: Floats,
  { temperature, precision }: EntropyConfig,
): Promise<ScoredSequence[]> {
  const h = nudge[precision] / norm(direction);
  const at = (step: number) => movedAlong(engine, { direction, step }, () => scoresOf(engine, E, temperature));
  const [up, down] = [await at(h), await at(-h)];
  const difference = (a: Floats, b: Floats) =>
    Float64Array.from(a as Float64Array, (each, k) => (each - b[k]!) / (2 * h));
  return up.map(({ logprobs, entropies }, index) => ({
    logprobs: difference(logprobs, down[index]!.logprobs),
    entropies: difference(entropies, down[index]!.entropies),
  }));
}

/** vᵀ∇²H v by the second difference of the reweighted entropy, and the step 2|∇H·v| / |vᵀ∇²H v| at which it equals the first order. */
async function curvature(engine: Engine, along: Along & { readonly slope: number }, config: EntropyConfig) {
  const h = (100 * nudge[config.precision]) / norm(along.direction);
  const [up, down] = [await changeAt(engine, along, h, config), await changeAt(engine, along, -h, config)];
  const vhvv = (up.change + down.change) / h ** 2;
  return { quadratic: { vhvv }, eta_star: (2 * Math.abs(along.slope)) / Math.abs(vhvv) };
}
