/**
 * Arguments of an objective for one token: log-probabilities, advantage and bounds, with the ratio of a whole sequence
 * when the objective uses that.
 */
import { UserError } from '../../base/user-error.js';
import type { Clip, Objective } from '../objectives/objectives.js';
import type { BatchStatistics, Datum } from './service.js';

/** Arguments of `Objective.loss` and `Objective.gradient`. */
type LossTerms = readonly [lp: number, q: number, A: number, clip: Clip | undefined];

/**
 * The terms of each token of a datum.
 *
 * An objective on the ratio of the sequence gets as q the log-probability that makes exp(lp − q) the geometric mean of
 * the sequence's token ratios. The gradient by lp is then that of GSPO-token (Zheng et al. 2025, eq. 13): the ratio as
 * a constant, times the token's own derivative.
 *
 * @param scores Log-probability of each token under the model that is trained.
 */
export function lossTerms(datum: Datum, scores: ArrayLike<number>, objective: Objective): (token: number) => LossTerms {
  const { logprobs, advantages } = datum;
  const logRatio = objective.ratio === 'sequence' ? meanLogRatio(datum, scores) : null;
  return (token) => {
    const lp = scores[token]!;
    const q = logRatio === null ? (logprobs?.[token] ?? lp) : lp - logRatio;
    return [lp, q, advantages?.[token] ?? 0, clipAt(datum, token, objective)];
  };
}

/** The loss of a datum: the weighted sum over its tokens. */
export function lossOfDatum(datum: Datum, scores: ArrayLike<number>, objective: Objective): number {
  const terms = lossTerms(datum, scores, objective);
  let sum = 0;
  for (let token = 0; token < scores.length; token++) {
    const weight = datum.weights[token]!;
    if (weight !== 0) sum += weight * objective.loss(...terms(token));
  }
  return sum;
}

/**
 * Mean log-ratio of the masked tokens; 0 when there are none, or when the policy that sampled is the one being
 * trained.
 */
function meanLogRatio({ logprobs, ratioMask, weights }: Datum, scores: ArrayLike<number>): number {
  const mask = ratioMask ?? weights;
  let [sum, count] = [0, 0];
  for (let token = 0; token < scores.length; token++) {
    if (mask[token] === 0) continue;
    sum += scores[token]! - (logprobs?.[token] ?? scores[token]!);
    count++;
  }
  return count === 0 ? 0 : sum / count;
}

/** Bounds of one token: the datum's, or else the objective's. @throws UserError when the objective clips nothing. */
function clipAt({ clips }: Datum, token: number, { clip, name }: Objective): Clip | undefined {
  if (clips === undefined) return clip;
  if (clip !== undefined) return { low: clips.low?.[token] ?? clip.low, high: clips.high?.[token] ?? clip.high };
  throw new UserError(`The loss ${name} cuts no ratio, and a datum has bounds for its tokens.`, 'Use ppo or cispo.');
}

/** @param difference The sampler's log-probability of a token less the policy's. */
export function addDistance(sums: BatchStatistics, difference: number): void {
  sums.kl1 += difference;
  sums.kl2 += difference ** 2 / 2;
}

/** Counts clipped tokens as TRL does: those whose loss no longer falls when the ratio moves on. */
export function countClipped(sums: BatchStatistics, ratio: number, A: number, clip: Clip): void {
  if (ratio < clip.low && A < 0) sums.clippedLow++;
  if (ratio > clip.high && A > 0) sums.clippedHigh++;
}
