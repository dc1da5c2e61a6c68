/**
 * One step of policy gradient from a batch U, and what it does to the entropy of the policy on another batch E: as predicted to first order,
 * and in truth, by importance sampling at each learning rate. Two batches, as one that gives both the step and the entropy has a bias.
 */
import { advantages } from '../../advantages/advantages.js';
import type { Engine, Floats } from '../../engine/engine.js';
import { decayingWeights } from '../../engine/double-precision.js';
import type { Environment } from '../../environments/environment.js';
import { tokenWeights } from '../../objectives/objectives.js';
import { entropyDerivatives, entropySlope, type EntropySlope } from '../../probes/entropy-derivative.js';
import { entropyEstimates, errorOfSum, total, type ScoredSequence } from '../../probes/entropy-estimates.js';
import { cosineSummary, fisherKernel, influence } from '../../probes/fisher-kernel.js';
import { noiseOfMicrobatches, noiseScale } from '../../probes/gradient-noise.js';
import { effectiveSampleSize, entropyChange } from '../../probes/importance-sampling.js';
import { sketchedProduct, sketcher } from '../../probes/sketch.js';
import { uStatistic } from '../../probes/u-statistic.js';
import { adamUpdate, sgdUpdate, type UpdateVector } from '../../probes/update-vector.js';
import { dot } from '../../probes/vectors.js';
import { rng } from '../../rng.js';
import { taskOf } from '../../rollouts/batches.js';
import { rollOut, type Rollout } from '../../rollouts/rollouts.js';
import type { EngineService } from '../../service/engine-service.js';
import { batchOf, gradientOf, movedAlong, partOf, scoresOf, type Batch } from '../../probes/scored-batch.js';
import type { EntropyConfig } from './keys.js';

/** `service` writes; `exact` scores the same weights. */
type Policy = { readonly service: EngineService; readonly exact: Engine; readonly environment: Environment };

export type Experiment = Awaited<ReturnType<typeof experiment>>;

/** @param seed Of the tasks and answers of both batches. */
export async function experiment(policy: Policy, config: EntropyConfig, seed: number) {
  const U = await updateBatch(policy, config, seed);
  const update = await updateOf(policy.exact, U, config);
  const E = batchOf(await played(policy, config, { seed, name: 'E', prompts: config.B_E, copies: 1 }));
  const scores = await scoresOf(policy.exact, E, config.temperature);
  const approx = await predicted(policy.exact, { E, scores, update, U }, config);
  return {
    ...{ seed, B_E: config.B_E, B_U: config.B_U, G_U: config.G, precision: config.precision },
    base_entropy: entropyEstimates(scores, config.per),
    update: summaryOf(update, config),
    approx,
    true: { entries: await changes(policy.exact, { E, scores, direction: update.direction, approx }, config) },
    covariance: covarianceRule(U),
    gns: noiseOf(update.groupGradients, U),
    one_batch: await oneBatch(policy.exact, U, update, config),
    ...(config.fisher > 0 && { fisher: await kernelOf(policy.exact, U, update, config) }),
  };
}

/** Tasks of a batch and their answers. Other names are other tasks, where the environment has no end of them. */
async function played(
  { service, environment }: Policy,
  config: EntropyConfig,
  { seed, name, prompts, copies }: { seed: number; name: string; prompts: number; copies: number },
): Promise<Rollout[][]> {
  const random = rng(seed, `${name}/tasks`);
  const tasks = Array.from({ length: prompts }, (_, at) => {
    const index = environment.size === Infinity ? at : random.below(environment.size);
    return taskOf(environment, index, { seed, name: `${name}/task` });
  });
  const sampling = { maxTokens: config.max_tokens, temperature: config.temperature };
  return rollOut({ service, environment }, tasks, { copies, sampling, streams: 'own' }, rng(seed, `${name}/sampling`));
}

/** What the step is made from. Arrays are by prompt, then answer. */
type UpdateBatch = {
  readonly batch: Batch;
  readonly scores_PG: readonly (readonly ScoredSequence[])[];
  readonly rewards_PG: readonly (readonly number[])[];
  readonly advantages_PG: readonly (readonly number[])[];
  /** Of each token in the loss. */
  readonly weights_PG: readonly (readonly number[])[];
};

async function updateBatch(policy: Policy, config: EntropyConfig, seed: number): Promise<UpdateBatch> {
  const groups = await played(policy, config, { seed, name: 'U', prompts: config.B_U, copies: config.G });
  const batch = batchOf(groups);
  const scores = await scoresOf(policy.exact, batch, config.temperature);
  const rewards_PG = groups.map((group) => group.map(({ rewards }) => total(rewards.map((reward) => reward.total))));
  const scores_PG = groups.map((group, p) => group.map((_, g) => scores[p * config.G + g]!));
  return {
    batch,
    scores_PG,
    rewards_PG,
    advantages_PG: rewards_PG.map((row) =>
      advantages(
        row.map((reward) => [reward]),
        'trajectory',
      ).flat(),
    ),
    weights_PG: tokenWeights(
      scores_PG.map((row) => row.map(({ logprobs }) => logprobs.length)),
      config.loss_normalization,
    ),
  };
}

/** `groupGradients`: of the loss, one a prompt, as means over a prompt's answers; `gradient` is their mean. */
type Update = UpdateVector & { readonly gradient: Floats; readonly groupGradients: readonly Floats[] };

async function updateOf(engine: Engine, U: UpdateBatch, config: EntropyConfig): Promise<Update> {
  const { epsilon, beta1, beta2, weight_decay: weightDecay, grad_clip: clip } = config;
  const groupGradients: Floats[] = [];
  for (const [p, row] of U.advantages_PG.entries()) {
    const byLogprob = row.map((A, g) => constant(U.scores_PG[p]![g]!, -A * U.weights_PG[p]![g]! * config.B_U));
    groupGradients.push(await gradientOf(engine, partOf(U.batch, p), { byLogprob, byEntropy: 0 }, config.temperature));
  }
  const gradient = meanOf(groupGradients);
  if (config.update === 'sgd') return { ...sgdUpdate(gradient), gradient, groupGradients };
  const options = { beta1, beta2, epsilon, weightDecay, ...(clip > 0 && { clipNorm: clip }) };
  const [weights, state] = [await engine.weights(), await engine.optimizerState()];
  return { ...adamUpdate({ gradient, weights, state }, options, decayingWeights(engine)), gradient, groupGradients };
}

function constant({ logprobs: { length } }: ScoredSequence, value: number): Float64Array {
  return new Float64Array(length).fill(value);
}

function meanOf(vectors: readonly Floats[]): Float64Array {
  const mean = new Float64Array(vectors[0]!.length);
  for (const vector of vectors) for (let at = 0; at < mean.length; at++) mean[at]! += vector[at]! / vectors.length;
  return mean;
}

function norm(vector: Floats): number {
  return Math.sqrt(dot(vector, vector));
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

type Prediction = {
  readonly E: Batch;
  readonly scores: readonly ScoredSequence[];
  readonly U: UpdateBatch;
  readonly update: Update;
};

/** Length of the difference of weights by which derivatives along a direction are taken, either way. */
const nudge = { double: 1e-4, single: 1e-2 };

async function predicted(engine: Engine, { E, scores, update }: Prediction, config: EntropyConfig) {
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

type Along = { readonly E: Batch; readonly scores: readonly ScoredSequence[]; readonly direction: Floats };

/** ΔH at weights + step · direction, by importance sampling. */
async function changeAt(engine: Engine, { E, scores, direction }: Along, step: number, config: EntropyConfig) {
  const moved = await movedAlong(engine, { direction, step }, () => scoresOf(engine, E, config.temperature));
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

/** vᵀ∇²H v by the second difference of the reweighted entropy, and the step 2|∇H·v| / |vᵀ∇²H v| at which it equals the first order. */
async function curvature(engine: Engine, along: Along & { readonly slope: number }, config: EntropyConfig) {
  const h = (100 * nudge[config.precision]) / norm(along.direction);
  const [up, down] = [await changeAt(engine, along, h, config), await changeAt(engine, along, -h, config)];
  const vhvv = (up.change + down.change) / h ** 2;
  return { quadratic: { vhvv }, eta_star: (2 * Math.abs(along.slope)) / Math.abs(vhvv) };
}

/**
 * The truth at each learning rate. `delta_h_adjusted` has the first order's noise taken out: the prediction that is made of the same
 * estimate is replaced by the one with centred credits, which has the same mean.
 */
async function changes(
  engine: Engine,
  along: Along & { readonly approx: { readonly difference: { readonly value: number } } },
  config: EntropyConfig,
) {
  const entries = [];
  for (const eta of config.eta) {
    const { change, before, after, ess, clipShare, logWeights } = await changeAt(engine, along, eta, config);
    const diagnostics = {
      base_entropy: before,
      h_new: after,
      ess,
      clip_fraction: clipShare,
      logweight_stats: logWeights,
    };
    entries.push({
      eta,
      delta_h_true: change,
      delta_h_adjusted: change + eta * along.approx.difference.value,
      diagnostics,
    });
  }
  return entries;
}

/**
 * The rule of Cui et al. 2025 (arXiv 2505.22617) for a table of logits: ΔH ≈ −η Cov(log π, π·A) of tokens under the policy, by its
 * estimate over the tokens that were said; and the same of whole answers, −Cov(S, A). Only signs and proportions can be compared.
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

/** Each prompt is a microbatch of one. */
function noiseOf(gradients: readonly Floats[], { weights_PG }: UpdateBatch) {
  const mean = meanOf(gradients);
  const terms = noiseOfMicrobatches(
    gradients.map((each) => dot(each, each)),
    dot(mean, mean),
    1,
  );
  return {
    signal: terms.signal,
    noise: terms.noise,
    b_simple: noiseScale(terms),
    ess: effectiveSampleSize(weights_PG.flat()),
  };
}

/** δH₁/η of whole answers from U alone, over pairs of different prompts; of the gradient's part of the step. */
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

/** The kernel of the first answers of U, preconditioned as the step is. */
async function kernelOf(engine: Engine, U: UpdateBatch, { preconditioner }: Update, config: EntropyConfig) {
  const { G, temperature, fisher: count, sketch_rows: rows } = config;
  const places = Array.from(
    { length: Math.min(count, config.B_U * G) },
    (_, at) => [Math.floor(at / G), at % G] as const,
  );
  const root = preconditioner.map(Math.sqrt);
  const sketch = rows === 0 ? null : sketcher(root.length, rows, config.seed);
  const kept: Float64Array[] = [];
  for (const [p, g] of places) {
    const byLogprob = [constant(U.scores_PG[p]![g]!, 1)];
    const gradient = await gradientOf(engine, partOf(U.batch, p, g), { byLogprob, byEntropy: 0 }, temperature);
    kept.push(sketch === null ? Float64Array.from(gradient, (each, at) => each * root[at]!) : sketch(gradient, root));
  }
  const kernel = sketch === null ? fisherKernel(kept) : kept.map((a) => kept.map((b) => sketchedProduct(a, b).value));
  const prompts = places.map(([p]) => p);
  const coefficients = places.map(([p, g]) => U.advantages_PG[p]![g]! * U.weights_PG[p]![g]!);
  return {
    preconditioner: config.update === 'adam' ? '1/(√û + ε)' : '1',
    ...{ kernel, prompts, cosines: cosineSummary(kernel, prompts), influence: influence(kernel, coefficients) },
    ...(sketch !== null && {
      standard_errors: kept.map((a) => kept.map((b) => sketchedProduct(a, b).standardError)),
    }),
  };
}
