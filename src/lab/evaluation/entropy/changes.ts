/** The true change of the entropy: by importance sampling of answers at moved weights. */
import type { Engine, Floats } from '../../engine/engine.js';
import { controlled, entropyControls } from '../../probes/control-variates.js';
import { entropySlope } from '../../probes/entropy-derivative.js';
import { total, type ScoredSequence } from '../../probes/entropy-estimates.js';
import { entropyChange } from '../../probes/importance-sampling.js';
import { movedAlong, scoresOf } from '../../probes/scored-batch.js';
import type { EntropyConfig } from './keys.js';
import { dot } from '../../probes/vectors.js';
import { entropyGradient, type Sloped } from './prediction.js';

/** ΔH at weights + step · direction, by importance sampling. */
async function changeAt(
  engine: Engine,
  { batch, scores }: Sloped,
  along: { direction: Floats; step: number },
  config: EntropyConfig,
) {
  // prettier-ignore
  const moved = await movedAlong(engine, along, () => scoresOf(engine, batch, config.temperature));
  const sums = (rows: readonly ScoredSequence[], name: keyof ScoredSequence) => rows.map((row) => total(row[name]));
  const reweighted = {
    logprobs: sums(scores, 'logprobs'),
    movedLogprobs: sums(moved, 'logprobs'),
    entropies: sums(scores, 'entropies'),
    movedEntropies: sums(moved, 'entropies'),
    lengths: scores.map(({ logprobs }) => logprobs.length),
  };
  return entropyChange(reweighted, { per: config.per, clip: config.clip_c });
}

/** A prediction from other answers: its value and its standard error, per unit of learning rate. */
type Predicted = Readonly<
  Record<'delta_h_per_lr' | 'standard_error' | 'without_denominator' | 'without_denominator_error', number>
>;

/**
 * The truth at each learning rate. `first_order`: the derivative of this very estimate, so that the difference of
 * `ratio` from 1 is of higher order, or rounding. `delta_h_adjusted`: with the noise of the first order removed: the
 * first-order estimate from the same answers is replaced by the one with centred credits, which has the same mean.
 * `delta_h_controlled`: with less noise by control variates, which do not depend on the prediction. `z`: distance of
 * prediction and truth in standard errors, when they come from different answers.
 *
 * @param prediction Null when it is from the same answers: their errors are then not independent.
 */
export async function changes(
  engine: Engine,
  { T, direction, prediction }: { readonly T: Sloped; readonly direction: Floats; readonly prediction: Predicted | null }, // prettier-ignore
  config: EntropyConfig,
) {
  const { scores, slopes } = T;
  const { per } = config;
  const { whole, difference } = await derivatives(engine, T, direction, config);
  const variates = entropyControls(scores, slopes);
  const { standardError } = entropySlope(scores, slopes, { per, credit: 'whole' });
  const entries = [];
  for (const eta of config.eta) {
    const found = await changeAt(engine, T, { direction, step: eta }, config);
    const { change, standardError: error, before, after, ess, clipShare, logWeights } = found;
    const lessNoise = controlled({ value: change, influences: found.influences }, variates);
    const truth = { value: change, standardError: error };
    entries.push({
      eta,
      delta_h_true: change,
      standard_error: error,
      ratio: change / (eta * whole),
      delta_h_adjusted: change + eta * difference,
      delta_h_controlled: lessNoise.value,
      controlled_error: lessNoise.standardError,
      ...(prediction !== null && { z: agreement(truth, lessNoise, prediction, eta) }),
      diagnostics: {
        base_entropy: before,
        h_new: after,
        ess,
        clip_fraction: clipShare,
        logweight_stats: logWeights,
      },
    });
  }
  return {
    num_sequences: scores.length,
    first_order: { delta_h_per_lr: whole, standard_error: standardError },
    entries,
  };
}

/** `whole`: along the direction, of the estimate by importance sampling. `difference`: what the derivative by the wanted credits is more. */
async function derivatives(engine: Engine, T: Sloped, direction: Floats, config: EntropyConfig) {
  const { per, credit } = config;
  const along = async (how: typeof credit) =>
    dot(await entropyGradient(engine, T, { per, credit: how }, config), direction);
  const whole = await along('whole');
  return { whole, difference: credit === 'whole' ? 0 : (await along(credit)) - whole };
}

type Truth = { readonly value: number; readonly standardError: number };

function agreement(truth: Truth, lessNoise: Truth, prediction: Predicted, eta: number) {
  const apart = (of: Truth, value: number, error: number) =>
    (of.value - eta * value) / Math.hypot(of.standardError, eta * error);
  const { delta_h_per_lr: value, standard_error: error } = prediction;
  const { without_denominator: fixed, without_denominator_error: fixedError } = prediction;
  return {
    plain: apart(truth, value, error),
    controlled: apart(lessNoise, value, error),
    without_denominator: apart(lessNoise, fixed, fixedError),
  };
}
