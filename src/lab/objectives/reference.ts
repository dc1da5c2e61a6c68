/**
 * The pull of one token towards a reference model: an estimate of KL(model ‖ reference) from a token the model drew.
 *
 * `lp`: log-probability under the model being trained; `reference`: under the reference model.
 */
type Pull = {
  readonly loss: (lp: number, reference: number) => number;
  /** Its derivative by `lp`. */
  readonly slope: (lp: number, reference: number) => number;
};

/**
 * e^d − d − 1 with d = reference − lp (Schulman 2020, "k3"): never below zero, zero where the two agree, and right on
 * average over what the model draws.
 */
export const k3: Pull = {
  loss: (lp, reference) => Math.expm1(reference - lp) - (reference - lp),
  slope: (lp, reference) => -Math.expm1(reference - lp),
};
