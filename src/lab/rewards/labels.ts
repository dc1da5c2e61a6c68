/**
 * Which samples of a step go to the forget adapter, and what they were paid: the labels of gradient routing.
 *
 * All randomness is drawn from the stream the caller gives, and the number of draws depends on the settings and the number of
 * samples alone, never on what the samples are: what is drawn afterwards is the same whatever the model said.
 */
import type { Rng } from '../rng.js';
import type { Scores } from './combined.js';
import type { Completion } from './completion.js';
import type { Detector } from './detectors.js';
import type { RewardFunction } from './registry.js';
import type { Passes } from '../service/dual-adapters.js';

/** How samples can earn by the hack. Both shares in [0, 1]. */
type Eligibility = {
  /** The share of samples that are paid the whole reward; all others are paid the base reward. */
  readonly eligibleFrac: number;
  /** The share of those whose flags count. */
  readonly routingFrac: number;
};

/** One entry a sample. `routed` implies `eligible`. */
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

/** What a detector gets wrong on purpose. All shares in [0, 1]. */
export type LabelErrors = {
  /** The share of true positives that are flagged; 1 = all. */
  readonly recall: number;
  /** The share of true negatives that are flagged; 0 = none. */
  readonly falsePositiveRate: number;
  /** The share of all samples still not flagged that are flagged in the end, routed or not. */
  readonly labelNoiseFrac: number;
};

/** One entry a sample. */
type Labels = {
  /** Trains the forget adapter only. */
  readonly isHack: readonly boolean[];
  /** The detector itself, before all errors, found nothing. */
  readonly isDetectorGood: readonly boolean[];
};

/**
 * The labels of a batch, in the order of generation: the detector's flags with its errors; of these only those of routed
 * samples; then noise, which flags and never unflags.
 *
 * Draws: one a sample for recall and false positives together (none if they are 1 and 0), then one a sample for the noise (none
 * if it is 0). In the source system recall also loses the false positives drawn before; here the two shares are what they say.
 *
 * @param raw The detector's flags. @param routed Of `drawEligibility`; null when every sample is eligible.
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
 * Of which samples some train the retain adapter with the forget adapter switched off: those that the detector found good and
 * no noise has flagged, or all that are not labelled as hacks.
 */
type AblatedPool = (typeof ablatedPools)[number];

/** Which pass each sample is in. Draws one a sample, in pool or not; none for a share of 0. `share` in [0, 1]. */
export function drawPasses(labels: Labels, { share, pool }: { share: number; pool: AblatedPool }, random: Rng): Passes {
  const { isHack, isDetectorGood } = labels;
  const drawn = drawShare(isHack.length, share, random);
  const ablated = isHack.map(
    (hack, at) => drawn[at]! && !hack && (pool === 'not_classified_bad' || isDetectorGood[at]!),
  );
  return { good: isHack.map((hack, at) => !hack && !ablated[at]!), hack: isHack, ablated };
}

/** True for about this share of the samples: one draw each, none where they would decide nothing. */
function drawShare(samples: number, share: number, random: Rng): boolean[] {
  requireShare(share);
  const isDrawn = share > 0 && share < 1;
  return Array.from({ length: samples }, () => (isDrawn ? random.next() < share : share === 1));
}

function requireShare(share: number): void {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`A share of samples is from 0 to 1, and not ${share}.`);
}

/** Labels that are one off would train every adapter on its neighbour's sample. */
function requireSameLength(...lists: readonly (readonly unknown[])[]): void {
  const lengths = lists.map(({ length }) => length);
  if (new Set(lengths).size > 1) throw new RangeError(`Lists of one batch have ${lengths.join(', ')} entries.`);
}

/** What is done with the samples of a step. One entry a sample. */
export type Labelled = {
  /** What is learnt from. */
  readonly rewards: readonly number[];
  /** What the same would be paid without the hack. */
  readonly retain: readonly number[];
  readonly flagged: readonly boolean[];
  readonly passes: Passes;
  /** By the detector that counts hacks; null where there is none. */
  readonly hacks: readonly boolean[] | null;
};

/** Who tells hacks, what they are paid, and with which errors. */
export type Labelling = Eligibility &
  LabelErrors & {
    /** What a sample without the hack would be paid; null: what the components of role retain pay. */
    readonly base: RewardFunction | null;
    /** Whose flags decide what is learnt from a sample; null: nothing is flagged. */
    readonly detector: Detector | null;
    readonly hackDetector: Detector | null;
    /** Of the pool that is learnt from with the forget adapter switched off. */
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
