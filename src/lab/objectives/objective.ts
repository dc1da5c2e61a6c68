/**
 * The loss of one token the model chose. The loss of a batch is the sum over such tokens, without averaging.
 *
 * `lp`: log-probability under the model being trained; `q`: under the model that sampled; A: advantage.
 */
export type Objective = {
  readonly loss: (lp: number, q: number, A: number) => number;
  /** What backpropagation uses: the loss's derivative by `lp` (for cispo, with the clipped ratio held fixed). */
  readonly slope: (lp: number, q: number, A: number) => number;
};

/** Bounds of the ratio exp(lp − q), absolute, not distances from 1. */
export type Clip = { readonly low: number; readonly high: number };

/** −ρA: the policy gradient, corrected for who sampled. */
export const importanceSampling: Objective = {
  loss: (lp, q, A) => -Math.exp(lp - q) * A,
  slope: (lp, q, A) => -Math.exp(lp - q) * A,
};

/** −min(ρA, clip(ρ)A): no gain from moving further than the clip allows. */
export function ppo(clip: Clip): Objective {
  const loss = (lp: number, q: number, A: number) => {
    const ratio = Math.exp(lp - q);
    return -Math.min(ratio * A, clamp(ratio, clip) * A);
  };
  const slope = (lp: number, q: number, A: number) => {
    const ratio = Math.exp(lp - q);
    const cut = A > 0 ? ratio > clip.high : ratio < clip.low;
    return cut ? 0 : -ratio * A;
  };
  return { loss, slope };
}

/** −clip(ρ)·lp·A with the clipped ratio as a constant: every token keeps some gradient. */
export function cispo(clip: Clip): Objective {
  const weight = (lp: number, q: number) => clamp(Math.exp(lp - q), clip);
  return { loss: (lp, q, A) => -weight(lp, q) * lp * A, slope: (lp, q, A) => -weight(lp, q) * A };
}

/** −(lp·A − ½β(lp − q)²): a pull back to the sampler instead of a clip. */
export function dro(beta: number): Objective {
  return {
    loss: (lp, q, A) => -(lp * A - 0.5 * beta * (lp - q) ** 2),
    slope: (lp, q, A) => -(A - beta * (lp - q)),
  };
}

function clamp(ratio: number, { low, high }: Clip): number {
  return Math.min(high, Math.max(low, ratio));
}
