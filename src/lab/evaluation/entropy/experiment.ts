/**
 * One step of policy gradient from a batch U, and what it does to the entropy of the policy on another batch E: as predicted to first order,
 * and in truth, by importance sampling at each learning rate. Two batches, as one that gives both the step and the entropy has a bias.
 */
import { entropyEstimates } from '../../probes/entropy-estimates.js';
import { batchOf, scoresOf } from '../../probes/scored-batch.js';
import { played, updateBatch, type Policy } from './batches.js';
import { changes } from './changes.js';
import { covarianceRule, kernelOf, oneBatch } from './from-one-batch.js';
import type { EntropyConfig } from './keys.js';
import { predicted } from './prediction.js';
import { noiseOf, summaryOf, updateOf } from './update.js';

export type Experiment = Awaited<ReturnType<typeof experiment>>;

/** @param seed Of the tasks and answers of both batches. */
export async function experiment(policy: Policy, config: EntropyConfig, seed: number) {
  const U = await updateBatch(policy, config, seed);
  const update = await updateOf(policy.exact, U, config);
  const E = batchOf(await played(policy, config, { seed, name: 'E', prompts: config.B_E, copies: 1 }));
  const scores = await scoresOf(policy.exact, E, config.temperature);
  const approx = await predicted(policy.exact, { E, scores, update }, config);
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
