/**
 * The Fisher kernel between sequences (Jaakkola & Haussler 1998): K(t, t′) = Σ_α P_α ∂_αS(t) ∂_αS(t′), with S the log-probability of a
 * sequence. A step of gradient ascent on E[A S], preconditioned by P, changes log π(t) by η Σ_j w_j K(t, t_j) A_j to first order.
 *
 * P is applied once. It is 1 for plain gradient descent, and for Adam 1/(√û + ε).
 */
import type { Floats } from '../engine/engine.js';
import { dot } from './vectors.js';

/** K[i][j] for each pair. @param gradients ∇S of each sequence. @param preconditioner Default: 1 for all weights. */
export function fisherKernel(gradients: readonly Floats[], preconditioner?: Floats): number[][] {
  const kernel = gradients.map((): number[] => []);
  gradients.forEach((a, i) => {
    for (let j = 0; j <= i; j++) kernel[i]![j] = kernel[j]![i] = dot(a, gradients[j]!, preconditioner);
  });
  return kernel;
}

/** K_ij / √(K_ii K_jj). */
export function cosines(kernel: readonly (readonly number[])[]): number[][] {
  return kernel.map((row, i) => row.map((value, j) => value / Math.sqrt(kernel[i]![i]! * kernel[j]![j]!)));
}

/** Mean cosines of pairs of different sequences; NaN where there is no such pair. */
type CosineSummary = { readonly samePrompt: number; readonly otherPrompt: number; readonly all: number };

/** @param prompts The prompt of each sequence, as a number or name of its own. */
export function cosineSummary(
  kernel: readonly (readonly number[])[],
  prompts: readonly (number | string)[],
): CosineSummary {
  const sums = { same: 0, other: 0 };
  const counts = { same: 0, other: 0 };
  cosines(kernel).forEach((row, i) => {
    for (let j = 0; j < i; j++) {
      const kind = prompts[i] === prompts[j] ? 'same' : 'other';
      sums[kind] += row[j]!;
      counts[kind]++;
    }
  });
  return {
    samePrompt: sums.same / counts.same,
    otherPrompt: sums.other / counts.other,
    all: (sums.same + sums.other) / (counts.same + counts.other),
  };
}

/**
 * Change of each log π(t_i) by a step along Σ_j c_j ∇S_j, per unit of learning rate: K c.
 *
 * @param coefficients Advantage times weight of each sequence.
 */
export function influence(kernel: readonly (readonly number[])[], coefficients: readonly number[]): number[] {
  return kernel.map((row) => row.reduce((sum, value, j) => sum + value * coefficients[j]!, 0));
}

/** Indices of the `count` values that are furthest from 0, the furthest first. */
export function strongest(values: readonly number[], count: number): number[] {
  return [...values.keys()].sort((a, b) => Math.abs(values[b]!) - Math.abs(values[a]!)).slice(0, count);
}
