/** Keys of the KL term that holds a run to its initial model: every algorithm describes them in these words. */
import { key } from '../config/key.js';
import { float, oneOf } from '../config/value-type.js';
import { klEstimators, type KlEstimator } from '../objectives/objectives.js';

/** Beginning of the help text of every key that sets the coefficient of a KL term. */
export const klCoefficient = 'coefficient, per nat, of the KL of each generated token to the initial model,';

/** Key that chooses the KL estimator, and with it whether the term is a penalty on rewards or a loss. */
export function klEstimatorKey(standard: KlEstimator) {
  return key(
    oneOf(klEstimators),
    standard,
    'k1: a penalty on rewards, k2: a loss, both by the gradient of KL(policy ‖ initial model); k3: a loss by that of KL(initial model ‖ policy)',
  );
}

/** tinker-cookbook's name of the coefficient of k1. */
export const klPenaltyKey = key(
  float(0),
  0,
  `${klCoefficient} by k1: a penalty on rewards, less the mean over the batch; 0: none`,
);

/** Key for the discount of the KL penalties of later tokens. */
export const klDiscountKey = key(
  float(0),
  0,
  'discount of the penalties (k1) of later tokens; 0: each token has only its own penalty',
);
