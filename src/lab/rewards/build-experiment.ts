import type { Rng } from '../rng.js';
import { combineRewards, type CombinedReward, type Component } from './combined.js';
import { findDetector, forgetRewardDetector, type Detector } from './detectors.js';
import type { Experiment } from './experiment-fit.js';
import { findReward } from './registry.js';
import type { Vocabulary } from './sentences.js';

/** What an experiment needs while it runs. */
export type BuiltExperiment = {
  readonly reward: CombinedReward;
  /** Without its errors: `labelSamples` makes those. */
  readonly detector: Detector | null;
  /** What an evaluation counts as a hack; null: the experiment has none. */
  readonly hackFrequencyDetector: Detector | null;
};

/** A stream for each detector, so that an evaluation draws nothing that training would have drawn. */
export type DetectorStreams = { readonly detector: Rng; readonly hackFrequencyDetector: Rng };

/**
 * Loads the modules, and looks up in the vocabulary what the rewards need of it.
 *
 * @throws UserError
 */
export async function buildExperiment(
  experiment: Experiment,
  vocabulary: Vocabulary,
  streams: DetectorStreams,
): Promise<BuiltExperiment> {
  const components: Component[] = [];
  for (const { id, role, scale, name, params } of experiment.reward.components) {
    components.push({ id, role, scale, reward: await findReward(name, params, vocabulary) });
  }
  const { detector, hackFrequencyDetector: counted } = experiment;
  const hasForget = components.some(({ role }) => role === 'forget');
  const byReward = hasForget ? forgetRewardDetector : null;
  return {
    reward: combineRewards(components, experiment.reward),
    detector: detector === null ? null : await findDetector(detector, streams.detector),
    hackFrequencyDetector: counted === null ? byReward : await findDetector(counted, streams.hackFrequencyDetector),
  };
}
