/**
 * Control variates (Lavenberg & Welch 1981; Owen 2013, Monte Carlo theory, chapter 8.9): an estimate Σ y_i less Σ_j
 * b_j Σ_i z_ij, with z_j of mean zero and b the least-squares coefficients of y on z, has the same mean, and only the
 * variance that z does not explain.
 *
 * Means have to be zero by theory, not in the sample: quantities that are merely centred, such as lengths, lower the
 * stated error of a sum and not its real one. The score identity gives such z: for every c_k that is known before
 * token k is drawn, E[Σ_k c_k ∇_v log π_k] = 0, and E[Σ_k (−log π_k − H_k)] = 0.
 */
import { errorOfSum, total, type Estimate, type ScoredSequence } from './entropy-estimates.js';
import { dot } from './vectors.js';

/** A name and one number a sequence, whose mean under the policy is zero. */
type ControlVariates = Readonly<Record<string, readonly number[]>>;

/** @param slopes Derivatives of the scores along the direction. */
export function entropyControls(
  sequences: readonly ScoredSequence[],
  slopes: readonly ScoredSequence[],
): ControlVariates {
  const weighted = (weight: (sequence: ScoredSequence, k: number) => number) =>
    sequences.map((sequence, index) => {
      const { logprobs } = slopes[index]!;
      return dot(
        Float64Array.from(logprobs, (_, k) => weight(sequence, k)),
        logprobs,
      );
    });
  return {
    score: weighted(() => 1),
    score_by_place: weighted((_, k) => k),
    score_by_entropy: weighted(({ entropies }, k) => entropies[k]!),
    surprise: sequences.map(({ logprobs, entropies }) => -total(logprobs) - total(entropies)),
  };
}

/**
 * `variance_ratio`: variance of the controlled estimate over that of the plain one. `correlations`: of each variate
 * with the sequences' terms.
 */
type Controlled = Estimate & {
  readonly varianceRatio: number;
  readonly correlations: Readonly<Record<string, number>>;
};

/**
 * Applies control variates to a sum of independent terms.
 * @param influences Influence of each sequence on the estimate.
 */
export function applyControlVariates(
  { value, influences }: { readonly value: number; readonly influences: readonly number[] },
  variates: ControlVariates,
): Controlled {
  const y = centre(influences);
  const columns = Object.values(variates);
  const z = columns.map(centre);
  const moments = z.map((a, i) => z.map((b, j) => dot(a, b) * (i === j ? 1 + ridge : 1)));
  const coefficients = solveSystem(
    moments,
    z.map((a) => dot(a, y)),
  );
  const taken = (index: number) => coefficients.reduce((sum, b, j) => sum + b * columns[j]![index]!, 0);
  const standardError = errorOfSum(influences.map((each, index) => each - taken(index)));
  const names = Object.keys(variates);
  return {
    value: value - total(influences.map((_, index) => taken(index))),
    standardError,
    varianceRatio: (standardError / errorOfSum(influences)) ** 2,
    correlations: Object.fromEntries(
      names.map((name, j) => [name, dot(z[j]!, y) / Math.sqrt(dot(z[j]!, z[j]!) * dot(y, y))]),
    ),
  };
}

/** Relative ridge, which keeps dependent variates from large coefficients. */
const ridge = 1e-8;

function centre(values: readonly number[]): number[] {
  const mean = total(values) / values.length;
  return values.map((value) => value - mean);
}

/** Solves a positive definite system by Gaussian elimination. A variate that is always 0 has the coefficient 0. */
function solveSystem(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  const size = rows.length;
  for (let i = 0; i < size; i++) {
    for (let j = i + 1; j < size; j++) {
      const factor = rows[i]![i] === 0 ? 0 : rows[j]![i]! / rows[i]![i]!;
      for (let k = i; k <= size; k++) rows[j]![k]! -= factor * rows[i]![k]!;
    }
  }
  const solution: number[] = Array.from({ length: size }, () => 0);
  for (let i = size - 1; i >= 0; i--) {
    const known = rows[i]!.slice(i + 1, size).reduce((sum, each, at) => sum + each * solution[i + 1 + at]!, 0);
    solution[i] = rows[i]![i] === 0 ? 0 : (rows[i]![size]! - known) / rows[i]![i]!;
  }
  return solution;
}
