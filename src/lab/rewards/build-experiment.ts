import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { combineRewards, type CombinedReward, type Component, type Detector } from './scores.js';
import { findDetector, forgetRewardDetector } from './detectors.js';
import type { Experiment } from './experiment-fit.js';
import { isModulePath } from '../config/own-module.js';
import { findReward } from './registry.js';
import type { Vocabulary } from './sentences.js';

/** The rewards and detectors of an experiment, ready to run. */
type BuiltExperiment = {
  readonly reward: CombinedReward;
  /** The detector without its label errors, which `labelSamples` adds. */
  readonly detector: Detector | null;
  /** Detector of hacks in evaluations; null when the experiment has none. */
  readonly hackFrequencyDetector: Detector | null;
};

/**
 * Loads the modules, and finds the tokens that the rewards need in the vocabulary.
 *
 * @throws UserError
 */
export async function buildExperiment(experiment: Experiment, vocabulary: Vocabulary): Promise<BuiltExperiment> {
  const components: Component[] = [];
  for (const { id, role, scale, name, params } of experiment.reward.components) {
    components.push({ id, role, scale, reward: await findReward(name, params, vocabulary) });
  }
  const { detector, hackFrequencyDetector: counted } = experiment;
  const hasForget = components.some(({ role }) => role === 'forget');
  const byReward = hasForget ? forgetRewardDetector : null;
  return {
    reward: combineRewards(components, experiment.reward),
    detector: detector === null ? null : await findDetector(detector),
    hackFrequencyDetector: counted === null ? byReward : await findDetector(counted),
  };
}

/**
 * A hash of the prompts and the user's modules, which the settings name but do not contain: a resumed run must have
 * the same. Imports of a module are not hashed.
 *
 * @param others More names that may be modules.
 */
export function fingerprint(
  prompts: readonly string[],
  experiment: Experiment,
  others: readonly string[] = [],
): string {
  const { reward, detector, hackFrequencyDetector } = experiment;
  const named = [...reward.components, detector, hackFrequencyDetector]
    .flatMap((each) => each?.name ?? [])
    .concat(others);
  const hash = createHash('sha256');
  for (const text of prompts) hash.update(`${text}\n`);
  for (const path of new Set(named.filter(isModulePath))) hash.update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}
