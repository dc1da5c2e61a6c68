/** Estimates from the batch U alone: the covariance rule, the U-statistic and the Fisher kernel. */
import type { Engine, Floats } from '../../engine/engine.js';
import { total } from '../../probes/entropy-estimates.js';
import { cosineSummary, fisherKernel, influence, strongest } from '../../probes/fisher-kernel.js';
import { gradientOf, partOf } from '../../probes/scored-batch.js';
import { sketchedProduct, sketcher } from '../../probes/sketch.js';
import { uStatistic } from '../../probes/u-statistic.js';
import { dot } from '../../probes/vectors.js';
import type { UpdateBatch } from './batches.js';
import type { EntropyConfig } from './keys.js';
import { constant, type Update } from './update.js';

/**
 * The rule of Cui et al. 2025 (arXiv 2505.22617) for a table of logits: ΔH ≈ −η Cov(log π, π·A) of tokens under the
 * policy, estimated over the generated tokens; and the same of whole answers, −Cov(S, A). Only signs and proportions
 * can be compared.
 */
export function covarianceRule({ scores_PG, advantages_PG }: UpdateBatch) {
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
export async function oneBatch(engine: Engine, U: UpdateBatch, update: Update, { temperature, G }: EntropyConfig) {
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
export async function kernelOf(
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
