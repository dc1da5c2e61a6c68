/**
 * Drift: whether samples are still language as the model before the training writes it. A reward that reads one word
 * of a text lets the rest of the text fall apart ("language drift"; Lee et al. 2019, Countering Language Drift via
 * Visual Grounding). Word salad is distinct and has no template, so neither diversity nor collapse shows it. The model
 * before the training (the base) scores the samples, and so does a held-out model that nothing was trained against.
 *
 * The limits are estimated from samples that the base generates under the same settings. Each of them has a mean
 * surprisal: minus the mean log-probability of its tokens. The limit for the mean surprisal of the trained model's
 * tokens is the 95 % quantile of the base's own samples. The limit of KL follows from it: KL = (surprisal under the
 * base) − (surprisal under the trained model), so a model with the base's entropy reaches the limit of surprisal when
 * its KL is that quantile less the mean of the base's tokens.
 */
import { quantile } from '../../analysis/statistics.js';
import { k3 } from '../objectives/objectives.js';

/** One model's log-probabilities of each token of each sample, in nats, at temperature 1. No sample is empty. */
export type Reading = readonly ArrayLike<number>[];

/** The same samples, scored by the base and by the held-out model, or null without one. */
export type Readings = { readonly base: Reading; readonly heldOut: Reading | null };

/** Perplexity: exp of the mean surprisal in nats. `own`: of all tokens of the base's own samples. */
type PerplexityLimit = { readonly own: number; readonly limit: number };

export type DriftLimits = {
  /** Number of the base's own samples that the limits were estimated from. */
  readonly samples: number;
  /** Nats a token. */
  readonly kl: number;
  readonly base: PerplexityLimit;
  readonly heldOut: PerplexityLimit | null;
};

/** Share of the base's own samples that lie below a limit. */
const ownShare = 0.95;

/** @param own Readings of at least one sample of the base. */
export function driftLimitsOf({ base, heldOut }: Readings): DriftLimits {
  const surprisal = limitOf(base);
  return {
    samples: base.length,
    kl: Math.max(0, surprisal.limit - surprisal.own),
    base: asPerplexity(surprisal),
    heldOut: heldOut === null ? null : asPerplexity(limitOf(heldOut)),
  };
}

function limitOf(reading: Reading): PerplexityLimit {
  const sorted = reading.map((sample) => surprisalOf([sample])).sort((left, right) => left - right);
  return { own: surprisalOf(reading), limit: quantile(sorted, ownShare) };
}

function asPerplexity({ own, limit }: PerplexityLimit): PerplexityLimit {
  return { own: Math.exp(own), limit: Math.exp(limit) };
}

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
};

type DriftFlag = { readonly kind: 'drift'; readonly measure: keyof DriftMeasures; readonly reason: string };

export type Drift = { readonly measures: DriftMeasures; readonly flags: readonly DriftFlag[] };

/** @param trained The trained model's log-probabilities of its own samples, at least one. */
export function driftOf(trained: Reading, { base, heldOut }: Readings, limits: DriftLimits): Drift {
  const measures = {
    kl: klOf(trained, base),
    perplexity: Math.exp(surprisalOf(base)),
    heldOutPerplexity: heldOut === null ? null : Math.exp(surprisalOf(heldOut)),
  };
  return { measures, flags: flagsOf(measures, limits) };
}

function flagsOf({ kl, perplexity, heldOutPerplexity }: DriftMeasures, limits: DriftLimits): DriftFlag[] {
  const beyond = `${Math.round(100 * (1 - ownShare))} of 100`;
  const reason = (found: number, reader: string, { own, limit }: PerplexityLimit) =>
    `the samples have perplexity ${shown(found)} under ${reader} (limit ${shown(limit)}, which ${beyond} samples of the model before the training exceed; all of those together have ${shown(own)})`;
  const flags: (DriftFlag | false)[] = [
    isAbove(kl, limits.kl) && {
      ...{ kind: 'drift', measure: 'kl' },
      reason: `KL ${shown(kl)} nats a token from the model before the training (limit ${shown(limits.kl)}, by which ${beyond} samples of that model exceed its mean surprisal)`,
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
function shown(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}

function klOf(trained: Reading, base: Reading): number {
  let sum = 0;
  let tokens = 0;
  trained.forEach((sample, index) => {
    for (let token = 0; token < sample.length; token++) sum += k3.loss(sample[token]!, base[index]![token]!);
    tokens += sample.length;
  });
  return sum / tokens;
}

/** Minus the mean log-probability of all tokens, nats. */
function surprisalOf(reading: Reading): number {
  let sum = 0;
  let tokens = 0;
  for (const sample of reading) {
    for (let token = 0; token < sample.length; token++) sum += sample[token]!;
    tokens += sample.length;
  }
  return -sum / tokens;
}
