/**
 * One step of policy gradient from a batch U, and its effect on the entropy of the policy: as predicted to first order
 * from a batch E, and as measured, by importance sampling of a batch T at each learning rate. U and E differ, as one
 * batch for both the step and the entropy has a bias; E and T differ when the prediction is to be tested against its
 * stated error. A batch V is for the noise scale by two sizes.
 */
import { entropyEstimates } from '../../probes/entropy-estimates.js';
import { scoredBatch, updateBatch, type Policy } from './batches.js';
import { changes } from './changes.js';
import { covarianceRule, kernelOf, oneBatch } from './from-one-batch.js';
import type { EntropyConfig } from './keys.js';
import { noiseOf } from './noise.js';
import { predicted, sloped } from './prediction.js';
import { groupGradientsOf, summaryOf, updateOf } from './update.js';

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
  const { approx, slope } = await predicted(exact, E, update, config);
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
