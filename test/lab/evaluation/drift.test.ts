import { describe, expect, it } from 'vitest';
import { driftLimitsOf, driftOf, type Reading } from '../../../src/lab/evaluation/drift.js';

/** Samples of so many tokens, all of which have the same log-probability. */
const samples = (...each: [logprob: number, tokens: number][]): Reading =>
  each.map(([logprob, tokens]) => Array<number>(tokens).fill(logprob));

/** 101 samples of ten tokens with surprisals from 1 to 2 nats: the mean is 1.5, the 95 % quantile 1.95. */
const own = samples(...Array.from({ length: 101 }, (_, at): [number, number] => [-1 - at / 100, 10]));
const limits = driftLimitsOf({ base: own, heldOut: null });
const readBy = (base: number, heldOut: number | null = null) => ({
  base: samples([base, 4]),
  heldOut: heldOut === null ? null : samples([heldOut, 4]),
});

describe('the limits of drift', () => {
  it('are the 95 % quantile of the base’s own samples, and of KL what that is above the mean of their tokens', () => {
    expect(limits.samples).toBe(101);
    expect(limits.base.own).toBeCloseTo(Math.exp(1.5), 10);
    expect(limits.base.limit).toBeCloseTo(Math.exp(1.95), 10);
    expect(limits.kl).toBeCloseTo(0.45, 10);
    expect(limits.heldOut).toBeNull();
  });

  it('count a sample once, and a token once in the mean', () => {
    const { base } = driftLimitsOf({ base: samples([-1, 30], [-3, 10]), heldOut: null });
    expect(Math.log(base.own)).toBeCloseTo(1.5, 10);
    expect(Math.log(base.limit)).toBeCloseTo(2.9, 10);
  });

  it('are of what the held-out model gives the same samples, where there is one', () => {
    const heldOut = own.map((sample) => Array.from(sample, (logprob) => 2 * logprob));
    const both = driftLimitsOf({ base: own, heldOut });
    expect(Math.log(both.heldOut!.limit)).toBeCloseTo(3.9, 10);
    expect({ ...both, heldOut: null }).toEqual(limits);
  });

  it('are never below zero for KL, where a few long samples of the base are its least likely ones', () => {
    const { kl } = driftLimitsOf({ base: [...samples(...Array<[number, number]>(99).fill([-1, 1])), ...samples([-9, 500])], heldOut: null }); // prettier-ignore
    expect(kl).toBe(0);
  });
});

describe('drift', () => {
  it('is measured in nats a token and as perplexity, over all tokens', () => {
    const readings = { base: samples([-1, 3], [-2, 1]), heldOut: samples([-3, 3], [-3, 1]) };
    const { measures } = driftOf(samples([-0.5, 3], [-1, 1]), readings, limits);
    // k3: e^d − d − 1, where d is −0.5 three times and −1 once.
    expect(measures.kl).toBeCloseTo((3 * (Math.exp(-0.5) - 0.5) + Math.exp(-1)) / 4, 12);
    expect(measures.perplexity).toBeCloseTo(Math.exp(1.25), 12);
    expect(measures.heldOutPerplexity).toBeCloseTo(Math.exp(3), 12);
  });

  it.each<{ what: string; trained: number; base: number; heldOut?: number; measures: string[] }>([
    { what: 'what the base writes itself', trained: -1.5, base: -1.5, measures: [] },
    { what: 'the limit of both measures', trained: -1.51, base: -1.9499, measures: [] },
    { what: 'word salad: unlikely, and far from the base', trained: -1.5, base: -4, measures: ['kl', 'perplexity'] },
    { what: 'a model that is sure of what the base thinks likely', trained: -0.1, base: -1.5, measures: ['kl'] },
    { what: 'a model as unsure as a base that is hotter', trained: -2.5, base: -2.6, measures: ['perplexity'] },
    { what: 'likely text of a cold model', trained: -0.8, base: -1, measures: [] },
    { what: 'not a number', trained: Number.NaN, base: Number.NaN, measures: ['kl', 'perplexity'] },
  ])('is told of $what: $measures', ({ trained, base, measures }) => {
    const { flags } = driftOf(samples([trained, 4]), readBy(base), limits);
    expect(flags.map(({ measure }) => measure)).toEqual(measures);
    expect(new Set(flags.map(({ kind }) => kind))).toEqual(new Set(measures.length === 0 ? [] : ['drift']));
  });

  it('is told of what only the held-out model finds unlikely: text that was learnt against the base', () => {
    const both = driftLimitsOf({ base: own, heldOut: own });
    const { flags } = driftOf(samples([-1.4, 4]), readBy(-1.5, -2.5), both);
    expect(flags).toEqual([
      {
        ...{ kind: 'drift', measure: 'heldOutPerplexity' },
        reason:
          'the samples have perplexity 12.2 under the held-out model (limit 7.03, which 5 of 100 samples of the model before the training exceed; all of those together have 4.48)',
      },
    ]);
  });

  it('says measure and limit in words', () => {
    const reasons = driftOf(samples([-1.5, 4]), readBy(-4), limits).flags.map(({ reason }) => reason);
    expect(reasons).toEqual([
      'KL 1.58 nats a token from the model before the training (limit 0.45, by which 5 of 100 samples of that model exceed its mean surprisal)',
      'the samples have perplexity 54.6 under the model before the training (limit 7.03, which 5 of 100 samples of the model before the training exceed; all of those together have 4.48)',
    ]);
  });
});
