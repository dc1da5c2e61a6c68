/**
 * Labels of gradient routing: the samples of a step that train the forget adapter, and their rewards.
 *
 * All randomness is drawn from the stream the caller gives, and the number of draws depends on the settings and the
 * number of samples alone, never on the samples: later draws are the same whatever the model generated.
 */
import type { Rng } from '../rng.js';
import type { Scores } from './combined.js';
import type { Completion } from './completion.js';
import type { Detector } from './detectors.js';
import type { RewardFunction } from './registry.js';
import type { Passes } from '../service/dual-adapters.js';

/** Eligibility of samples for the hack's reward. Both shares in [0, 1]. */
type Eligibility = {
  /** Share of samples that get the whole reward; all others get the base reward. */
  readonly eligibleFrac: number;
  /** Share of the eligible samples whose flags count. */
  readonly routingFrac: number;
};

/** One entry per sample. `routed` implies `eligible`. */
type EligibilityDraw = { readonly eligible: readonly boolean[]; readonly routed: readonly boolean[] };

/**
 * Draws, in the order of generation: one for each sample whether it is eligible, then one for each whether it is routed; none
 * for a share of 1.
 */
export function drawEligibility(
  samples: number,
  { eligibleFrac, routingFrac }: Eligibility,
  random: Rng,
): EligibilityDraw {
  const eligible = drawShare(samples, eligibleFrac, random);
  const routed = drawShare(samples, routingFrac, random);
  return { eligible, routed: routed.map((is, at) => is && eligible[at]!) };
}

/** The whole reward where a sample is eligible, else the base reward. */
export function eligibleRewards(
  whole: readonly number[],
  base: readonly number[],
  { eligible }: EligibilityDraw,
): number[] {
  requireSameLength(whole, base, eligible);
  return whole.map((reward, at) => (eligible[at]! ? reward : base[at]!));
}

/** Deliberate errors of a detector. All shares in [0, 1]. */
export type LabelErrors = {
  /** The share of true positives that are flagged; 1 = all. */
  readonly recall: number;
  /** The share of true negatives that are flagged; 0 = none. */
  readonly falsePositiveRate: number;
  /** Share of the samples not flagged by then that are flagged in the end, routed or not. */
  readonly labelNoiseFrac: number;
};

/** One entry per sample. */
type Labels = {
  /** The sample trains the forget adapter only. */
  readonly isHack: readonly boolean[];
  /** The detector itself, before all errors, did not flag the sample. */
  readonly isDetectorGood: readonly boolean[];
};

/**
 * The labels of a batch, in the order of generation: the detector's flags with its errors; of these only those of
 * routed samples; then noise, which flags and never unflags.
 *
 * Draws: one a sample for recall and false positives together (none if they are 1 and 0), then one a sample for the
 * noise (none if it is 0). In small-rl recall also removes false positives drawn before; here the two shares are
 * independent.
 *
 * @param raw The detector's flags.
 * @param routed From `drawEligibility`; null when every sample is eligible.
 */
export function labelSamples(
  raw: readonly boolean[],
  routed: readonly boolean[] | null,
  { recall, falsePositiveRate, labelNoiseFrac }: LabelErrors,
  random: Rng,
): Labels {
  if (routed !== null) requireSameLength(raw, routed);
  requireShare(recall);
  requireShare(falsePositiveRate);
  const isExact = recall === 1 && falsePositiveRate === 0;
  const detected = isExact ? raw : raw.map((flag) => random.next() < (flag ? recall : falsePositiveRate));
  const noisy = drawShare(raw.length, labelNoiseFrac, random);
  return {
    isHack: detected.map((flag, at) => (flag && (routed === null || routed[at]!)) || noisy[at]!),
    isDetectorGood: raw.map((flag) => !flag),
  };
}

export const ablatedPools = ['ground_truth_good', 'not_classified_bad'] as const;

/**
 * The pool of ablated samples, which train the retain adapter with the forget adapter at scale 0: samples that neither
 * the detector nor the noise has flagged, or all samples not labelled as hacks.
 */
type AblatedPool = (typeof ablatedPools)[number];

/**
 * Assigns each sample to a pass. Draws one number per sample, in the pool or not; none for a share of 0. `share` in
 * [0, 1].
 */
export function drawPasses(labels: Labels, { share, pool }: { share: number; pool: AblatedPool }, random: Rng): Passes {
  const { isHack, isDetectorGood } = labels;
  const drawn = drawShare(isHack.length, share, random);
  const ablated = isHack.map(
    (hack, at) => drawn[at]! && !hack && (pool === 'not_classified_bad' || isDetectorGood[at]!),
  );
  return { good: isHack.map((hack, at) => !hack && !ablated[at]!), hack: isHack, ablated };
}

/** True for about this share of the samples: one draw each, none when the share is 0 or 1. */
function drawShare(samples: number, share: number, random: Rng): boolean[] {
  requireShare(share);
  const isDrawn = share > 0 && share < 1;
  return Array.from({ length: samples }, () => (isDrawn ? random.next() < share : share === 1));
}

function requireShare(share: number): void {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`A share of samples is from 0 to 1, and not ${share}.`);
}

/** Labels shifted by one would train every adapter on its neighbour's sample. */
function requireSameLength(...lists: readonly (readonly unknown[])[]): void {
  const lengths = lists.map(({ length }) => length);
  if (new Set(lengths).size > 1) throw new RangeError(`Lists of one batch have ${lengths.join(', ')} entries.`);
}

/** Labels and rewards of a step's samples. One entry per sample. */
export type Labelled = {
  /** The rewards that are trained on. */
  readonly rewards: readonly number[];
  /** Rewards of the same samples without the hack. */
  readonly retain: readonly number[];
  readonly flagged: readonly boolean[];
  readonly passes: Passes;
  /** Flags of the detector that counts hacks; null when there is none. */
  readonly hacks: readonly boolean[] | null;
};

/** Options of labelling: the detectors, the rewards and the deliberate errors. */
export type Labelling = Eligibility &
  LabelErrors & {
    /** Reward of a sample without the hack; null: the reward of the components of role retain. */
    readonly base: RewardFunction | null;
    /** Detector whose flags decide the pass of a sample; null: nothing is flagged. */
    readonly detector: Detector | null;
    readonly hackDetector: Detector | null;
    /** Share of the pool that is ablated. */
    readonly share: number;
    readonly pool: AblatedPool;
  };

/** All of the above for one batch, in the order of generation. */
export async function label(
  completions: readonly Completion[],
  scores: Scores,
  labelling: Labelling,
  { labels: random, hacks }: { readonly labels: Rng; readonly hacks: Rng },
): Promise<Labelled> {
  const { base, detector, hackDetector } = labelling;
  const retain = base === null ? scores.retain : await base.score(completions);
  const drawn = drawEligibility(completions.length, labelling, random);
  const raw = detector?.flags(completions, scores, random) ?? completions.map(() => false);
  const labels = labelSamples(raw, drawn.routed, labelling, random);
  return {
    rewards: eligibleRewards(scores.rewards, retain, drawn),
    retain,
    flagged: labels.isHack,
    passes: drawPasses(labels, labelling, random),
    hacks: hackDetector?.flags(completions, scores, hacks) ?? null,
  };
}
