/**
 * The gradient noise scale: the batch size beyond which larger batches stop helping (McCandlish et al. 2018, "An
 * empirical model of large-batch training", appendix A).
 *
 * The mean gradient g of B examples has E‖g‖² = ‖G‖² + tr(Σ)/B, with G the true gradient and Σ the covariance of one
 * example's. The simple noise scale is B = tr(Σ)/‖G‖². Two measurements of ‖g‖² at different B give both terms without
 * bias; their ratio is biased when they are noisy, so terms are averaged over steps before they are divided.
 */
import { jackknifeError } from '../../analysis/statistics.js';

/** Unbiased estimates, which may be negative when the noise is larger than the signal. */
export type NoiseTerms = {
  /** ‖G‖² */
  readonly signal: number;
  /** tr(Σ), for one example. */
  readonly noise: number;
};

/** Both terms and their quotient in examples, with standard errors by the jackknife over examples. */
export type NoiseEstimate = NoiseTerms & {
  readonly scale: number;
  readonly errors: Readonly<Record<'signal' | 'noise' | 'scale', number>>;
};

/**
 * Estimates from the gradients of single examples, each a microbatch of its own.
 *
 * @param products_BB Scalar products of these gradients; at least three gradients.
 */
export function noiseOfExamples(products_BB: readonly (readonly number[])[]): NoiseEstimate {
  const { whole, without } = meanSquares(products_BB);
  const squares = products_BB.map((row, at) => row[at]!);
  return withErrors(noiseOfMicrobatches(squares, whole, 1), [
    without.map((square, left) => noiseOfMicrobatches(squares.toSpliced(left, 1), square, 1)),
  ]);
}

/**
 * Estimates from two independently drawn batches: single examples, and the mean of others.
 *
 * @param squares Squared norms of the gradients of the first.
 * @param products_BB Scalar products of those of the second.
 */
export function noiseOfTwoBatches(
  squares: readonly number[],
  products_BB: readonly (readonly number[])[],
): NoiseEstimate {
  const { whole, without } = meanSquares(products_BB);
  const examples = products_BB.length;
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const terms = (small: readonly number[], large: MeanGradient) =>
    noiseOfTwoSizes({ examples: 1, square: mean(small) }, large);
  return withErrors(terms(squares, { examples, square: whole }), [
    squares.map((_, left) => terms(squares.toSpliced(left, 1), { examples, square: whole })),
    without.map((square) => terms(squares, { examples: examples - 1, square })),
  ]);
}

/** Squared norm of the mean of gradients, and of the mean without each of them. */
function meanSquares(products_BB: readonly (readonly number[])[]) {
  const count = products_BB.length;
  const rows = products_BB.map((row) => row.reduce((sum, value) => sum + value, 0));
  const all = rows.reduce((sum, value) => sum + value, 0);
  const without = rows.map((row, at) => (all - 2 * row + products_BB[at]![at]!) / (count - 1) ** 2);
  return { whole: all / count ** 2, without };
}

/** @param without For each sample the terms without one of its members. */
function withErrors(terms: NoiseTerms, without: readonly (readonly NoiseTerms[])[]): NoiseEstimate {
  const error = (of: (terms: NoiseTerms) => number) => jackknifeError(...without.map((sample) => sample.map(of)));
  return {
    ...terms,
    scale: noiseScale(terms),
    errors: {
      signal: error(({ signal }) => signal),
      noise: error(({ noise }) => noise),
      scale: error(({ signal, noise }) => noise / signal),
    },
  };
}

/** The squared norm of a mean gradient, and the number of its examples. */
type MeanGradient = { readonly examples: number; readonly square: number };

/** The terms from mean gradients of two batch sizes, drawn independently. */
export function noiseOfTwoSizes(small: MeanGradient, large: MeanGradient): NoiseTerms {
  const difference = small.examples - large.examples;
  return {
    signal: (small.examples * small.square - large.examples * large.square) / difference,
    noise: (small.examples * large.examples * (large.square - small.square)) / difference,
  };
}

/**
 * The terms from the microbatches of one step. Their gradients are those of the mean over their own examples: a
 * microbatch's part of the step's gradient is first divided by its share.
 *
 * @param squares Squared norm of the gradient of each microbatch, at least two.
 * @param meanSquare Squared norm of the mean of these gradients.
 * @param examples Number of examples of a microbatch: the effective number, when their weights differ.
 */
export function noiseOfMicrobatches(squares: readonly number[], meanSquare: number, examples: number): NoiseTerms {
  const count = squares.length;
  const mean = squares.reduce((sum, square) => sum + square, 0) / count;
  return {
    signal: (count * meanSquare - mean) / (count - 1),
    noise: (examples * count * (mean - meanSquare)) / (count - 1),
  };
}

/**
 * tr(Σ)/‖G‖² in examples; NaN when a term is not above zero: the batches are then too small for an estimate, which a
 * clamped value would hide.
 */
export function noiseScale({ signal, noise }: NoiseTerms): number {
  return signal > 0 && noise > 0 ? noise / signal : NaN;
}

/** Exponential means of both terms, with Adam's bias correction. */
export class NoiseAverage {
  #terms: NoiseTerms = { signal: 0, noise: 0 };
  #weight = 0;
  readonly #keep: number;

  /** @param keep Share of the former mean, in [0, 1). */
  constructor(keep: number) {
    this.#keep = keep;
  }

  /** @returns The means, including these terms. */
  add({ signal, noise }: NoiseTerms): NoiseTerms {
    const [keep, take] = [this.#keep, 1 - this.#keep];
    this.#weight = keep * this.#weight + take;
    this.#terms = { signal: keep * this.#terms.signal + take * signal, noise: keep * this.#terms.noise + take * noise };
    return this.terms;
  }

  get terms(): NoiseTerms {
    return { signal: this.#terms.signal / this.#weight, noise: this.#terms.noise / this.#weight };
  }

  /** State for `restore`: the sums, and their weight. */
  get state(): readonly [number, number, number] {
    return [this.#terms.signal, this.#terms.noise, this.#weight];
  }

  restore([signal, noise, weight]: readonly [number, number, number]): void {
    this.#terms = { signal, noise };
    this.#weight = weight;
  }
}
