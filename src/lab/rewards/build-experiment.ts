import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { combineRewards, type CombinedReward, type Component } from './combined.js';
import { findDetector, forgetRewardDetector, type Detector } from './detectors.js';
import type { Experiment } from './experiment-fit.js';
import { isModulePath } from '../config/own-module.js';
import { findReward } from './registry.js';
import type { Vocabulary } from './sentences.js';

/** What an experiment needs while it runs. */
type BuiltExperiment = {
  readonly reward: CombinedReward;
  /** Without its errors: `labelSamples` makes those. */
  readonly detector: Detector | null;
  /** What an evaluation counts as a hack; null: the experiment has none. */
  readonly hackFrequencyDetector: Detector | null;
};

/**
 * Loads the modules, and looks up in the vocabulary what the rewards need of it.
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
 * Says whether a run would go on with what it began with: a hash of the prompts and of a person's own modules, which other files
 * decide than the settings. What a module imports is not looked into.
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
