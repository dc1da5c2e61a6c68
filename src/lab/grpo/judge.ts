import { UserError } from '../../base/user-error.js';
import type { Config } from '../config/key.js';
import { buildExperiment } from '../rewards/build-experiment.js';
import type { CombinedReward, Scores } from '../rewards/combined.js';
import type { Completion } from '../rewards/completion.js';
import type { Detector } from '../rewards/detectors.js';
import type { Experiment } from '../rewards/experiment-fit.js';
import { drawEligibility, drawPasses, eligibleRewards, labelSamples, type Passes } from '../rewards/labels.js';
import { findReward, type Reward } from '../rewards/registry.js';
import type { Vocabulary } from '../rewards/sentences.js';
import { rng, type Rng } from '../rng.js';
import type { grpoKeys } from './keys.js';

/** What a batch of completions is worth, and what is to be done with each. One entry a completion in every list. */
export type Judged = {
  readonly scores: Scores;
  /** What is learnt from. */
  readonly rewards: readonly number[];
  /** What the same would be worth without the hack. */
  readonly retain: readonly number[];
  readonly flagged: readonly boolean[];
  readonly passes: Passes;
  /** By the detector that counts hacks; null where there is none. */
  readonly hacks: readonly boolean[] | null;
};

/** Rewards, detectors and labels of a run. */
export type Judge = {
  readonly reward: CombinedReward;
  /** What the reward would be if hacks earned nothing; null when there is no such. */
  readonly base: Reward | null;
  readonly hackDetector: Detector | null;
  /** All randomness is of the step: a resumed run labels the same samples. */
  readonly judge: (completions: readonly Completion[], groupSize: number, step: number) => Promise<Judged>;
};

type LabelConfig = Pick<
  Config<typeof grpoKeys>,
  | 'base_reward'
  | 'rh_eligible_frac'
  | 'routing_frac'
  | 'label_noise_frac'
  | 'ablated_frac'
  | 'ablated_pool'
  | 'gradient_routing'
  | 'baseline'
  | 'seed'
>;

/** @throws UserError for rewards and detectors that cannot be had, and for shares that have nothing to be shares of. */
export async function openJudge(config: LabelConfig, experiment: Experiment, vocabulary: Vocabulary): Promise<Judge> {
  const [ofLabels, ofHacks] = [new StepStream(config.seed, 'labels'), new StepStream(config.seed, 'hacks')];
  const streams = { detector: ofLabels, hackFrequencyDetector: ofHacks };
  const built = await buildExperiment(experiment, vocabulary, streams);
  const { reward } = built;
  const base = config.base_reward === null ? null : await findReward(config.base_reward, {}, vocabulary);
  const isLabelled = config.gradient_routing || config.baseline !== null;
  const hasForget = reward.components.some(({ role }) => role === 'forget');
  checkShares(config, { isLabelled, hasBase: base !== null || hasForget });
  const detector = isLabelled ? built.detector : null;
  const hackDetector = built.hackFrequencyDetector ?? built.detector;
  const errors = {
    recall: experiment.detectorRecall,
    falsePositiveRate: experiment.detector?.falsePositiveRate ?? 0,
    labelNoiseFrac: config.label_noise_frac,
  };
  const shares = { eligibleFrac: config.rh_eligible_frac, routingFrac: config.routing_frac };
  const ablation = { share: config.ablated_frac, pool: config.ablated_pool };

  const judge = async (completions: readonly Completion[], groupSize: number, step: number): Promise<Judged> => {
    ofLabels.begin(step);
    ofHacks.begin(step);
    const scores = await reward.score(completions, groupSize);
    const retain = base === null ? scores.retain : await base.score(completions);
    const drawn = drawEligibility(completions.length, shares, ofLabels);
    const raw = detector === null ? completions.map(() => false) : detector.flags(completions, scores);
    const labels = labelSamples(raw, drawn.routed, errors, ofLabels);
    return {
      scores,
      rewards: eligibleRewards(scores.rewards, retain, drawn),
      retain,
      flagged: labels.isHack,
      passes: drawPasses(labels, ablation, ofLabels),
      hacks: hackDetector?.flags(completions, scores) ?? null,
    };
  };
  return { reward, base, hackDetector, judge };
}

/** A share of nothing would be a setting without effect. @throws UserError */
function checkShares(config: LabelConfig, { isLabelled, hasBase }: { isLabelled: boolean; hasBase: boolean }): void {
  for (const name of ['rh_eligible_frac', 'routing_frac', 'label_noise_frac', 'ablated_frac'] as const) {
    if (config[name] <= 1) continue;
    throw new UserError(`${name}=${config[name]} is no share.`, 'Give it a number from 0 to 1.');
  }
  if (config.rh_eligible_frac < 1 && !hasBase) {
    throw new UserError(
      `rh_eligible_frac=${config.rh_eligible_frac} pays the others a reward without the hack, and there is none.`,
      'Give base_reward, or a `config` whose reward has components of role retain and forget.',
    );
  }
  const needLabels = ['routing_frac', 'label_noise_frac', 'ablated_frac'] as const;
  const stray = isLabelled ? undefined : needLabels.find((name) => config[name] !== (name === 'routing_frac' ? 1 : 0));
  if (stray !== undefined) {
    throw new UserError(
      `${stray}=${config[stray]} is of flagged completions, and none are flagged.`,
      'Set gradient_routing or a baseline, or leave it out.',
    );
  }
  if (config.ablated_frac > 0 && !config.gradient_routing) {
    throw new UserError('ablated_frac needs an adapter to switch off.', 'Set gradient_routing, or leave it out.');
  }
}

/** A stream that begins anew with each step, for what is made once and draws in every step. */
export class StepStream implements Rng {
  #stream: Rng;
  readonly #seed: number;
  readonly #purpose: string;

  constructor(seed: number, purpose: string) {
    this.#seed = seed;
    this.#purpose = purpose;
    this.#stream = rng(seed, purpose);
  }

  begin(step: number): void {
    this.#stream = rng(this.#seed, `${this.#purpose}/${step}`);
  }

  next(): number {
    return this.#stream.next();
  }

  below(bound: number): number {
    return this.#stream.below(bound);
  }

  state(): ReturnType<Rng['state']> {
    return this.#stream.state();
  }
}
