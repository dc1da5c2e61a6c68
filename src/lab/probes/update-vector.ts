/**
 * The direction in which a step of AdamW (Loshchilov & Hutter 2019) moves the weights, as a function of gradient,
 * weights and moments: v = Δθ / learning rate.
 *
 * With t the index of the step, m′ = β₁m + (1 − β₁)g, u′ = β₂u + (1 − β₂)g², d = √(u′/(1 − β₂ᵗ)) + ε: v = −m′ / ((1 −
 * β₁ᵗ) d) − λθ. Computed in double precision: the difference of two single-precision weights keeps few digits of a
 * step that is small beside them.
 *
 * d is that of the whole batch, so v is linear in the gradient given d: v = baseline + Σ_i part(g_i), where the
 * baseline is the effect of momentum and decay without a gradient.
 */
import type { AdamOptions, Floats, OptimizerState } from '../engine/engine.js';
import { norm } from './vectors.js';

/** Flat vectors in the order of the weights. */
export type UpdateVector = {
  readonly direction: Float64Array;
  /** −β₁m / ((1 − β₁ᵗ) d) − λθ: the part that belongs to no sequence. */
  readonly baseline: Float64Array;
  /**
   * A gradient's part of the direction; the parts of gradients that sum to the whole gradient sum to direction −
   * baseline.
   */
  readonly part: (gradient: Floats) => Float64Array;
  /** 1/d, by which Adam multiplies a gradient: the preconditioner of the Fisher kernel. */
  readonly preconditioner: Float64Array;
};

type TrainedState = { readonly gradient: Floats; readonly weights: Floats; readonly state: OptimizerState };

/** @param decays Whether a weight decays: matrices do, norms do not. */
export function adamUpdate(
  { gradient, weights, state }: TrainedState,
  options: Omit<AdamOptions, 'learningRate' | 'groups'>,
  decays: (index: number) => boolean = () => true,
): UpdateVector {
  const { beta1, beta2, epsilon, weightDecay = 0, clipNorm = Infinity } = options;
  const step = state.step + 1;
  const [correction1, correction2] = [1 - beta1 ** step, 1 - beta2 ** step];
  const scale = Math.min(1, clipNorm / (norm(gradient) + clipEpsilon));
  const preconditioner = Float64Array.from(gradient, (g, at) => {
    const second = beta2 * state.v[at]! + (1 - beta2) * (scale * g) ** 2;
    return 1 / (Math.sqrt(second / correction2) + epsilon);
  });
  const baseline = preconditioner.map((p, at) => {
    const momentum = (-beta1 * state.m[at]! * p) / correction1;
    return momentum - (decays(at) ? weightDecay * weights[at]! : 0);
  });
  const part = (share: Floats) =>
    Float64Array.from(share, (g, at) => (-(1 - beta1) * scale * g * preconditioner[at]!) / correction1);
  const moved = part(gradient);
  return { direction: moved.map((value, at) => value + baseline[at]!), baseline, part, preconditioner };
}

/** Plain gradient descent: v = −g. */
export function sgdUpdate(gradient: Floats): UpdateVector {
  const part = (share: Floats) => Float64Array.from(share, (g) => -g);
  const [direction, preconditioner] = [part(gradient), new Float64Array(gradient.length).fill(1)];
  return { direction, baseline: new Float64Array(gradient.length), part, preconditioner };
}

/** Added to a norm before dividing by it, as PyTorch's `clip_grad_norm_` does. */
const clipEpsilon = 1e-6;
