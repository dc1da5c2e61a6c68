/** The first-order change of the entropy, from the batch E, with its second-order term. */
import type { Engine, Floats } from '../../engine/engine.js';
import { controlled, entropyControls } from '../../probes/control-variates.js';
import { entropyCurvature } from '../../probes/entropy-curvature.js';
import { entropyDerivatives, entropySlope, type DerivativeOptions } from '../../probes/entropy-derivative.js';
import { total, type ScoredSequence } from '../../probes/entropy-estimates.js';
import { gradientOf, movedAlong, scoresOf } from '../../probes/scored-batch.js';
import { dot, norm } from '../../probes/vectors.js';
import type { Scored } from './batches.js';
import type { EntropyConfig } from './keys.js';
import type { Update } from './update.js';

/** Scored answers with the derivatives of the scores along the step. */
export type Sloped = Scored & { readonly slopes: readonly ScoredSequence[] };

/** Distance along a direction, either way, of the finite differences for first derivatives. */
const nudge = { double: 1e-4, single: 1e-2 };

/**
 * Distance of the finite differences for second derivatives. A longer one would leave the range in which the entropy
 * is a parabola: a step of Adam is some 300 long per unit of η.
 */
const bend = { double: 1e-2, single: 5e-2 };

export async function sloped(engine: Engine, scored: Scored, direction: Floats, config: EntropyConfig) {
  const { up, down, length } = await scoredAlong(engine, scored, { direction, distance: nudge[config.precision] }, config); // prettier-ignore
  const difference = (a: Floats, b: Floats) =>
    Float64Array.from(a as Float64Array, (each, k) => (each - b[k]!) / (2 * length));
  const slopes = up.map(({ logprobs, entropies }, index) => ({
    logprobs: difference(logprobs, down[index]!.logprobs),
    entropies: difference(entropies, down[index]!.entropies),
  }));
  return { ...scored, slopes };
}

/** ∇H of a batch by one backward pass, one number a weight: an analytic derivative, exact up to rounding. */
export function entropyGradient(
  engine: Engine,
  { batch, scores }: Scored,
  options: DerivativeOptions,
  { temperature }: EntropyConfig,
): Promise<Floats> {
  return gradientOf(engine, batch, entropyDerivatives(scores, options), temperature);
}

/** Values are by backward passes; what each answer adds to them, and hence errors, by differences. @returns `approx`, and `slope`: ∇H. */
export async function predicted(engine: Engine, E: Sloped, update: Update, config: EntropyConfig) {
  const { per, credit } = config;
  const { direction, baseline, groupGradients, part } = update;
  const { scores, slopes } = E;
  const [own, fixed] = [
    { per, credit },
    { per, credit, hasDenominator: false },
  ];
  const ofEntropy = await entropyGradient(engine, E, own, config);
  const value = dot(ofEntropy, direction);
  const withFixedLengths = dot(await entropyGradient(engine, E, fixed, config), direction);
  const slope = entropySlope(scores, slopes, own);
  const lessNoise = controlled({ value, influences: slope.influences }, entropyControls(scores, slopes));
  const along = { direction, distance: bend[config.precision] };
  const curvature = entropyCurvature({ here: scores, ...(await scoredAlong(engine, E, along, config)) }, per);
  const approx = {
    method: credit,
    delta_h_per_lr: value,
    standard_error: slope.standardError,
    by_differences: slope.value,
    baseline: dot(ofEntropy, baseline),
    per_prompt: groupGradients.map((gradient) => dot(ofEntropy, part(gradient)) / groupGradients.length),
    without_denominator: withFixedLengths,
    without_denominator_error: entropySlope(scores, slopes, fixed).standardError,
    control_variates: {
      delta_h_per_lr: lessNoise.value,
      standard_error: lessNoise.standardError,
      variance_ratio: lessNoise.varianceRatio,
      correlations: lessNoise.correlations,
    },
    quadratic: { vhvv: curvature.value, standard_error: curvature.standardError },
    /** The step at which the second-order term equals the first, 2|∇H·v| / |v⊤∇²H v|. */
    eta_star: (2 * Math.abs(value)) / Math.abs(curvature.value),
    num_sequences: scores.length,
    num_tokens: total(scores.map(({ logprobs }) => logprobs.length)),
  };
  return { approx, slope: ofEntropy };
}

/** Scores at weights ± length · direction; `distance` is the length of that difference. */
async function scoredAlong(
  engine: Engine,
  { batch }: Scored,
  { direction, distance }: { readonly direction: Floats; readonly distance: number },
  { temperature }: EntropyConfig,
) {
  const length = distance / norm(direction);
  const at = (step: number) => movedAlong(engine, { direction, step }, () => scoresOf(engine, batch, temperature));
  return { up: await at(length), down: await at(-length), length };
}
