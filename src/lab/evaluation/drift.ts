/**
 * Drift: whether samples are still language as the model before the training writes it. A reward that reads one word
 * of a text lets the rest of the text fall apart ("language drift"; Lee et al. 2019, Countering Language Drift via
 * Visual Grounding). Word salad is distinct and has no template, so neither diversity nor collapse shows it. The model
 * before the training (the base) scores the samples, and so does a held-out model that nothing was trained against.
 *
 * The limits are learned from samples that the base generates under the same settings. The surprisal of samples is minus
 * the mean log-probability of all their tokens. A mean is compared with means: the limit of perplexity is what the
 * surprisal of as many samples of the base exceeds in 5 of 100 cases, by a bootstrap in which the base's own mean, with
 * which they are compared, is resampled as well. `single` is the 95 % quantile of the base's single samples; the share
 * of the trained model's samples beyond it is reported beside what chance gives.
 *
 * KL has no such chance level, as the KL of the base to itself is exactly 0. Its limit is a tolerance, the quantile of
 * single samples less the base's mean.
 */
import { quantile } from '../../analysis/statistics.js';
import { k3 } from '../objectives/objectives.js';
import { rng } from '../rng.js';

/** One model's log-probabilities of each token of each sample, in nats, at temperature 1. No sample is empty. */
export type SampleLogprobs = readonly ArrayLike<number>[];

/** The same samples, scored by the base and by the held-out model, or null without one. */
export type ReferenceLogprobs = { readonly base: SampleLogprobs; readonly heldOut: SampleLogprobs | null };

/**
 * Perplexity: exp of the mean surprisal in nats. `own`: of all tokens of the base's own samples. `limit`: of as many
 * samples as are compared. `single`: 95 of 100 single samples of the base are below it. `beyond`: by chance the share of
 * samples above `single` is at most this in 95 of 100 cases.
 */
type PerplexityLimit = {
  readonly own: number;
  readonly limit: number;
  readonly single: number;
  readonly beyond: number;
};

export type DriftLimits = {
  /** Number of the base's own samples that the limits were estimated from. */
  readonly samples: number;
  /** Nats a token. */
  readonly kl: number;
  readonly base: PerplexityLimit;
  readonly heldOut: PerplexityLimit | null;
};

/** Share of what the base generates that lies below a limit. */
const ownShare = 0.95;

/**
 * @param own Readings of at least one sample of the base.
 * @param compared Number of the samples whose mean is compared with the limits.
 */
export function driftLimitsOf({ base, heldOut }: ReferenceLogprobs, compared: number): DriftLimits {
  const perplexity = limitOf(base, compared);
  return {
    samples: base.length,
    kl: Math.max(0, Math.log(perplexity.single / perplexity.own)),
    base: perplexity,
    heldOut: heldOut === null ? null : limitOf(heldOut, compared),
  };
}

/** Resamples of a bootstrap: the 95 % quantile is then right to some 3 % of itself. */
const resamples = 1000;

function limitOf(reading: SampleLogprobs, compared: number): PerplexityLimit {
  const base = reading.map(totalOf);
  const random = rng(0, 'limits of drift');
  const drawn = (count: number) => Array.from({ length: count }, () => base[random.below(base.length)]!);
  const [excess, shares]: [number[], number[]] = [[], []];
  for (let round = 0; round < resamples; round++) {
    const [own, others] = [drawn(base.length), drawn(compared)];
    excess.push(surprisalOf(others) - surprisalOf(own));
    shares.push(shareBeyond(others, singleLimit(own)));
  }
  const own = surprisalOf(base);
  const highest = (values: number[]) => quantile(values.sort(ascending), ownShare);
  return {
    own: Math.exp(own),
    limit: Math.exp(own + highest(excess)),
    single: Math.exp(singleLimit(base)),
    beyond: highest(shares),
  };
}

/** The 95 % quantile of the surprisal of single samples, nats. */
function singleLimit(samples: readonly Total[]): number {
  return quantile(samples.map((sample) => sample.surprisal / sample.tokens).sort(ascending), ownShare);
}

/** @param limit In nats a token. */
function shareBeyond(samples: readonly Total[], limit: number): number {
  return samples.filter(({ surprisal, tokens }) => surprisal / tokens > limit).length / samples.length;
}

/** Surprisal of a sample, summed over its tokens, nats. */
type Total = { readonly surprisal: number; readonly tokens: number };

function totalOf(sample: SampleLogprobs[number]): Total {
  let sum = 0;
  for (let token = 0; token < sample.length; token++) sum += sample[token]!;
  return { surprisal: -sum, tokens: sample.length };
}

/** Minus the mean log-probability of all tokens, nats. */
function surprisalOf(samples: readonly Total[]): number {
  let [sum, tokens] = [0, 0];
  for (const sample of samples) {
    sum += sample.surprisal;
    tokens += sample.tokens;
  }
  return sum / tokens;
}

const ascending = (left: number, right: number) => left - right;

type DriftMeasures = {
  /**
   * Mean over tokens of the estimator k3 of KL(trained ‖ base), nats, as a run logs it in `kl`. Unbiased when the
   * samples are drawn from the trained model itself: at temperature 1, without a repetition penalty.
   */
  readonly kl: number;
  /** Perplexity of the samples under the base. */
  readonly perplexity: number;
  /** The same under the held-out model; null without one. */
  readonly heldOutPerplexity: number | null;
  /** Share of the samples that the base finds less likely than 95 of 100 of its own. */
  readonly beyond: number;
};

type DriftFlag = {
  readonly kind: 'drift';
  readonly measure: Exclude<keyof DriftMeasures, 'beyond'>;
  readonly reason: string;
};

export type Drift = { readonly measures: DriftMeasures; readonly flags: readonly DriftFlag[] };

/** @param trained The trained model's log-probabilities of its own samples, at least one. */
export function driftOf(trained: SampleLogprobs, { base, heldOut }: ReferenceLogprobs, limits: DriftLimits): Drift {
  const totals = base.map(totalOf);
  const measures = {
    kl: klOf(trained, base),
    perplexity: Math.exp(surprisalOf(totals)),
    heldOutPerplexity: heldOut === null ? null : Math.exp(surprisalOf(heldOut.map(totalOf))),
    beyond: shareBeyond(totals, Math.log(limits.base.single)),
  };
  return { measures, flags: flagsOf(measures, limits) };
}

function flagsOf({ kl, perplexity, heldOutPerplexity }: DriftMeasures, limits: DriftLimits): DriftFlag[] {
  const beyond = `${Math.round(100 * (1 - ownShare))} of 100`;
  const reason = (found: number, reader: string, { own, limit }: PerplexityLimit) =>
    `the samples have perplexity ${decimalText(found)} under ${reader} (limit ${decimalText(limit)}, which as many samples of the model before the training exceed in ${beyond} cases; all of its own have ${decimalText(own)})`;
  const flags: (DriftFlag | false)[] = [
    isAbove(kl, limits.kl) && {
      ...{ kind: 'drift', measure: 'kl' },
      reason: `KL ${decimalText(kl)} nats a token from the model before the training (limit ${decimalText(limits.kl)}, by which ${beyond} single samples of that model exceed its mean surprisal)`,
    },
    isAbove(perplexity, limits.base.limit) && {
      ...{ kind: 'drift', measure: 'perplexity' },
      reason: reason(perplexity, 'the model before the training', limits.base),
    },
    heldOutPerplexity !== null &&
      limits.heldOut !== null &&
      isAbove(heldOutPerplexity, limits.heldOut.limit) && {
        ...{ kind: 'drift', measure: 'heldOutPerplexity' },
        reason: reason(heldOutPerplexity, 'the held-out model', limits.heldOut),
      },
  ];
  return flags.filter((flag) => flag !== false);
}

/** NaN counts as above every limit. */
function isAbove(found: number, limit: number): boolean {
  return !(found <= limit);
}

/** Two decimals below ten, one above. */
function decimalText(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}

function klOf(trained: SampleLogprobs, base: SampleLogprobs): number {
  let sum = 0;
  let tokens = 0;
  trained.forEach((sample, index) => {
    for (let token = 0; token < sample.length; token++) sum += k3.loss(sample[token]!, base[index]![token]!);
    tokens += sample.length;
  });
  return sum / tokens;
}
