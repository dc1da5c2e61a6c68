/**
 * One step of policy gradient from a batch U, and its effect on the entropy of the policy: as predicted to first order
 * from a batch E, and as measured, by importance sampling of a batch T at each learning rate. U and E differ, as one
 * batch for both the step and the entropy has a bias; E and T differ when the prediction is to be tested against its
 * stated error. A batch V is for the noise scale by two sizes.
 */
import { decayingWeights } from '../../engine/double-precision.js';
import type { Engine, Floats } from '../../engine/engine.js';
import { applyControlVariates, entropyControls } from '../../probes/control-variates.js';
import { entropyCurvature } from '../../probes/entropy-curvature.js';
import { type DerivativeOptions, entropyDerivatives, entropySlope } from '../../probes/entropy-derivative.js';
import { entropyEstimates, type ScoredSequence, total } from '../../probes/entropy-estimates.js';
import { cosineSummary, fisherKernel, influence, strongest } from '../../probes/fisher-kernel.js';
import { type NoiseEstimate, noiseOfExamples, noiseOfTwoBatches } from '../../probes/gradient-noise.js';
import { effectiveSampleSize, entropyChange } from '../../probes/importance-sampling.js';
import { promptGradients } from '../../probes/prompt-gradients.js';
import { gradientOf, movedAlong, partOf, scoresOf } from '../../probes/scored-batch.js';
import { sketchedProduct, sketcher } from '../../probes/sketch.js';
import { uStatistic } from '../../probes/u-statistic.js';
import { adamUpdate, sgdUpdate, type UpdateVector } from '../../probes/update-vector.js';
import { dot, norm } from '../../probes/vectors.js';
import { type Policy, type Scored, scoredBatch, updateBatch, type UpdateBatch } from './batches.js';
import type { EntropyConfig } from './keys.js';

export type Experiment = Awaited<ReturnType<typeof experiment>>;

/** @param seed Seed of the tasks and answers of all batches. */
export async function experiment(policy: Policy, config: EntropyConfig, seed: number) {
  const { exact } = policy;
  const U = await updateBatch(policy, config, { seed, name: 'U', prompts: config.B_U });
  const update = await updateOf(exact, U, config);
  const measured = async (name: string, prompts: number) =>
    sloped(exact, await scoredBatch(policy, config, { seed, name, prompts }), update.direction, config);
  const E = await measured('E', config.B_E);
  const T = config.B_T === 0 ? E : await measured('T', config.B_T);
  const { approx, slope } = await predictChange(exact, E, update, config);
  const truth = { T, direction: update.direction, prediction: T === E ? null : approx };
  const V =
    config.gns_prompts === 0
      ? null
      : await updateBatch(policy, config, { seed, name: 'V', prompts: config.gns_prompts });
  return {
    ...{ seed, B_E: config.B_E, B_T: config.B_T, B_U: config.B_U, G_U: config.G, precision: config.precision },
    base_entropy: entropyEstimates(E.scores, config.per),
    update: summaryOf(update, config),
    approx,
    true: await changes(exact, truth, config),
    covariance: covarianceRule(U),
    gns: noiseOf(update.groupGradients, U, V === null ? null : await groupGradientsOf(exact, V, config)),
    one_batch: await oneBatch(exact, U, update, config),
    ...(config.fisher > 0 && { fisher: await kernelOf(exact, U, { ...update, slope }, config) }),
  };
}

// The true change of the entropy: the answers are scored again at the moved weights (importance sampling).

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
async function changes(
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
    const lessNoise = applyControlVariates({ value: change, influences: found.influences }, variates);
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

/**
 * Directional derivatives of the entropy. `whole`: with credit `whole`, the derivative of the importance-sampling
 * estimate. `difference`: what the configured credit adds to it.
 */
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

// Estimates from the batch U alone: the covariance rule, the U-statistic and the Fisher kernel.

/**
 * The rule of Cui et al. 2025 (arXiv 2505.22617) for a table of logits: ΔH ≈ −η Cov(log π, π·A) of tokens under the
 * policy, estimated over the generated tokens; and the same of whole answers, −Cov(S, A). Only signs and proportions
 * can be compared.
 */
function covarianceRule({ scores_PG, advantages_PG }: UpdateBatch) {
  const sequences = scores_PG.flat();
  const A = advantages_PG.flat();
  const perToken = sequences.flatMap(({ logprobs }, index) => Array.from(logprobs, (lp) => ({ lp, A: A[index]! })));
  return {
    token: -covariance(
      perToken.map(({ lp }) => lp),
      perToken.map((each) => each.A),
    ),
    token_weighted: -covariance(
      perToken.map(({ lp }) => lp),
      perToken.map((each) => Math.exp(each.lp) * each.A),
    ),
    sequence: -covariance(
      sequences.map(({ logprobs }) => total(logprobs)),
      A,
    ),
  };
}

function covariance(x: readonly number[], y: readonly number[]): number {
  const [meanX, meanY] = [total(x) / x.length, total(y) / y.length];
  return x.reduce((sum, each, at) => sum + (each - meanX) * (y[at]! - meanY), 0) / (x.length - 1);
}

/** δH₁/η of whole answers from U alone, over pairs of different prompts; for the gradient's part of the step. */
async function oneBatch(engine: Engine, U: UpdateBatch, update: Update, { temperature, G }: EntropyConfig) {
  const X: Floats[] = [];
  for (const [p, row] of U.scores_PG.entries()) {
    const S = row.map(({ logprobs }) => total(logprobs));
    const sum = total(S);
    const byLogprob = row.map((scores, g) => constant(scores, (S[g]! - (sum - S[g]!) / (G - 1)) / G));
    X.push(await gradientOf(engine, partOf(U.batch, p), { byLogprob, byEntropy: 0 }, temperature));
  }
  const { value, standardError } = uStatistic(X, update.groupGradients.map(update.part));
  return { delta_h_per_lr: -value, standard_error: standardError };
}

/**
 * The kernel of the first answers of U, preconditioned as the step is. `delta_h_per_lr`: first-order change of the
 * entropy by each answer's part of the step.
 * @param step.slope ∇H.
 */
async function kernelOf(
  engine: Engine,
  U: UpdateBatch,
  { preconditioner, part, slope }: Update & { readonly slope: Floats },
  config: EntropyConfig,
) {
  const { G, temperature, fisher: count, sketch_rows: rows } = config;
  const places = Array.from(
    { length: Math.min(count, config.B_U * G) },
    (_, at) => [Math.floor(at / G), at % G] as const,
  );
  const root = preconditioner.map(Math.sqrt);
  const sketch = rows === 0 ? null : sketcher(root.length, rows, config.seed);
  const kept: Float64Array[] = [];
  const coefficients = places.map(([p, g]) => U.advantages_PG[p]![g]! * U.weights_PG[p]![g]!);
  const changes: number[] = [];
  for (const [p, g] of places) {
    const byLogprob = [constant(U.scores_PG[p]![g]!, 1)];
    const gradient = await gradientOf(engine, partOf(U.batch, p, g), { byLogprob, byEntropy: 0 }, temperature);
    changes.push(-coefficients[changes.length]! * dot(slope, part(gradient)));
    kept.push(sketch === null ? Float64Array.from(gradient, (each, at) => each * root[at]!) : sketch(gradient, root));
  }
  const kernel = sketch === null ? fisherKernel(kept) : kept.map((a) => kept.map((b) => sketchedProduct(a, b).value));
  const prompts = places.map(([p]) => p);
  const moved = influence(kernel, coefficients);
  return {
    preconditioner: config.update === 'adam' ? '1/(√û + ε)' : '1',
    ...{ kernel, prompts, cosines: cosineSummary(kernel, prompts), influence: moved, delta_h_per_lr: changes },
    /** Answers whose log-probability the step changes most, in descending order. */
    strongest: strongest(moved, 10),
    ...(sketch !== null && {
      standard_errors: kept.map((a) => kept.map((b) => sketchedProduct(a, b).standardError)),
    }),
  };
}

// The gradient noise scale of a checkpoint, in prompts.

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

/** Scored answers with the derivatives of the scores along the step. */
type Sloped = Scored & { readonly slopes: readonly ScoredSequence[] };

/** Distance along a direction, either way, of the finite differences for first derivatives. */
const nudge = { double: 1e-4, single: 1e-2 };

/**
 * Distance of the finite differences for second derivatives. A longer one would leave the range in which the entropy
 * is a parabola: a step of Adam is some 300 long per unit of η.
 */
const bend = { double: 1e-2, single: 5e-2 };

async function sloped(engine: Engine, scored: Scored, direction: Floats, config: EntropyConfig) {
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
function entropyGradient(
  engine: Engine,
  { batch, scores }: Scored,
  options: DerivativeOptions,
  { temperature }: EntropyConfig,
): Promise<Floats> {
  return gradientOf(engine, batch, entropyDerivatives(scores, options), temperature);
}

/** The first-order change of the entropy, from the batch E, with its second-order term. Values are by backward passes; what each answer adds to them, and hence errors, by differences. @returns `approx`, and `slope`: ∇H. */
async function predictChange(engine: Engine, E: Sloped, update: Update, config: EntropyConfig) {
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
  const lessNoise = applyControlVariates({ value, influences: slope.influences }, entropyControls(scores, slopes));
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

/** `groupGradients`: of the loss, one a prompt, as means over a prompt's answers; `gradient` is their mean. */
type Update = UpdateVector & { readonly gradient: Floats; readonly groupGradients: readonly Floats[] };

async function updateOf(engine: Engine, U: UpdateBatch, config: EntropyConfig): Promise<Update> {
  const { epsilon, beta1, beta2, weight_decay: weightDecay, grad_clip: clip } = config;
  const groupGradients = await groupGradientsOf(engine, U, config);
  const gradient = meanOf(groupGradients);
  if (config.update === 'sgd') return { ...sgdUpdate(gradient), gradient, groupGradients };
  const options = { beta1, beta2, epsilon, weightDecay, ...(clip > 0 && { clipNorm: clip }) };
  const [weights, state] = [await engine.weights(), await engine.optimizerState()];
  return { ...adamUpdate({ gradient, weights, state }, options, decayingWeights(engine)), gradient, groupGradients };
}

/** Gradients of the loss, one a prompt; their mean is the gradient of the batch. */
async function groupGradientsOf(engine: Engine, U: UpdateBatch, { temperature }: EntropyConfig) {
  const gradients: Floats[] = [];
  for await (const gradient of promptGradients(engine, U, temperature)) gradients.push(gradient);
  return gradients;
}

function constant({ logprobs: { length } }: ScoredSequence, value: number): Float64Array {
  return new Float64Array(length).fill(value);
}

function meanOf(vectors: readonly Floats[]): Float64Array {
  const mean = new Float64Array(vectors[0]!.length);
  for (const vector of vectors) for (let at = 0; at < mean.length; at++) mean[at]! += vector[at]! / vectors.length;
  return mean;
}

function summaryOf({ direction, baseline, gradient }: Update, { update, grad_clip: clip }: EntropyConfig) {
  return {
    method: update,
    vec_norm: norm(direction),
    baseline_norm: norm(baseline),
    gradient_norm: norm(gradient),
    num_params: direction.length,
    gradient_clip: clip,
  };
}
