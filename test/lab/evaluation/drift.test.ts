import { describe, expect, it } from 'vitest';
import { numbers } from '../engine/models.js';
import { driftLimitsOf, driftOf, type SampleLogprobs } from '../../../src/lab/evaluation/drift.js';

/** Samples of so many tokens, all of which have the same log-probability. */
const samples = (...each: [logprob: number, tokens: number][]): SampleLogprobs =>
  each.map(([logprob, tokens]) => Array<number>(tokens).fill(logprob));

/** 101 samples of ten tokens with surprisals from 1 to 2 nats: the mean is 1.5, the 95 % quantile 1.95. */
const own = samples(...Array.from({ length: 101 }, (_, at): [number, number] => [-1 - at / 100, 10]));
const limits = driftLimitsOf({ base: own, heldOut: null }, 1);
const readBy = (base: number, heldOut: number | null = null) => ({
  base: samples([base, 4]),
  heldOut: heldOut === null ? null : samples([heldOut, 4]),
});

describe('the limits of drift', () => {
  it('bound the mean perplexity of as many samples of the base, and KL by the quantile of single samples', () => {
    expect(limits.samples).toBe(101);
    expect(limits.base.own).toBeCloseTo(Math.exp(1.5), 10);
    expect(limits.base.single).toBeCloseTo(Math.exp(1.95), 10);
    expect(limits.kl).toBeCloseTo(0.45, 10);
    expect(limits.heldOut).toBeNull();
    // A uniform of width 1 has the deviation 1/√12; the mean of 100, less one of 101, is near to normal.
    const normal = 1.645 * Math.sqrt((1 / 100 + 1 / 101) / 12);
    const { base } = driftLimitsOf({ base: own, heldOut: null }, 100);
    expect((Math.log(base.limit) - 1.5) / normal).toBeGreaterThan(0.9);
    expect((Math.log(base.limit) - 1.5) / normal).toBeLessThan(1.1);
    // 5 % of 100, and what chance adds to it in 5 of 100 cases.
    expect(base.beyond).toBeGreaterThanOrEqual(0.09);
    expect(base.beyond).toBeLessThanOrEqual(0.13);
  });

  it('count each sample once, and each token once in the mean', () => {
    const { base } = driftLimitsOf({ base: samples([-1, 30], [-3, 10]), heldOut: null }, 1);
    expect(Math.log(base.own)).toBeCloseTo(1.5, 10);
    expect(Math.log(base.single)).toBeCloseTo(2.9, 10);
  });

  it('come from the held-out model’s scores of the same samples, when there is one', () => {
    const heldOut = own.map((sample) => Array.from(sample, (logprob) => 2 * logprob));
    const both = driftLimitsOf({ base: own, heldOut }, 1);
    expect(Math.log(both.heldOut!.single)).toBeCloseTo(3.9, 10);
    expect(both.heldOut!.limit).toBeCloseTo(both.base.limit ** 2, 10);
    expect({ ...both, heldOut: null }).toEqual(limits);
  });

  it('are never below zero for KL, even if the base’s least likely samples are a few long ones', () => {
    const { kl } = driftLimitsOf({ base: [...samples(...Array<[number, number]>(99).fill([-1, 1])), ...samples([-9, 500])], heldOut: null }, 1); // prettier-ignore
    expect(kl).toBe(0);
  });
});

describe('drift', () => {
  it('is measured in nats per token and as perplexity, over all tokens', () => {
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
  ])('is reported for $what: $measures', ({ trained, base, measures }) => {
    const { flags } = driftOf(samples([trained, 4]), readBy(base), limits);
    expect(flags.map(({ measure }) => measure)).toEqual(measures);
    expect(new Set(flags.map(({ kind }) => kind))).toEqual(new Set(measures.length === 0 ? [] : ['drift']));
  });

  it('is reported when only the held-out model finds the text unlikely, as after training against the base', () => {
    const both = driftLimitsOf({ base: own, heldOut: own }, 1);
    const { flags } = driftOf(samples([-1.4, 4]), readBy(-1.5, -2.5), both);
    expect(flags).toEqual([
      {
        ...{ kind: 'drift', measure: 'heldOutPerplexity' },
        reason:
          'the samples have perplexity 12.2 under the held-out model (limit 7.12, which as many samples of the model before the training exceed in 5 of 100 cases; all of its own have 4.48)',
      },
    ]);
  });

  it('is reported with its measure and limit in words', () => {
    const reasons = driftOf(samples([-1.5, 4]), readBy(-4), limits).flags.map(({ reason }) => reason);
    expect(reasons).toEqual([
      'KL 1.58 nats a token from the model before the training (limit 0.45, by which 5 of 100 single samples of that model exceed its mean surprisal)',
      'the samples have perplexity 54.6 under the model before the training (limit 7.12, which as many samples of the model before the training exceed in 5 of 100 cases; all of its own have 4.48)',
    ]);
  });
});

/** Word salad has this perplexity under both bases of the published sweep. */
const salad = 12.5;

/** The surprisal of single samples is near to normal: its mean and 95 % quantile say all. */
function storiesOf({ own: centre, single }: { own: number; single: number }, seed: number) {
  const next = numbers(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const spread = Math.log(single / centre) / 1.645;
  const written = (perplexity: number, count: number) =>
    samples(...Array.from({ length: count }, (): [number, number] => [-Math.log(perplexity) - spread * normal(), 1]));
  return { own: written(centre, 100), mixed: (percent: number) => [...written(salad, percent), ...written(centre, 100 - percent)] }; // prettier-ignore
}

describe('the verdict on stories with word salad among them', () => {
  it.each([
    { base: 'the longer base', own: 2.2, single: 2.8 },
    { base: 'the shorter base', own: 3.1, single: 5.1 },
  ])('is reported for a few per cent of replaced words, and not for chance: $base', (published) => {
    const seeds = 16;
    const percents = [0, 5, 15, 35, 100];
    const found = percents.map(() => ({ drift: 0, byOldRule: 0, beyond: 0 }));
    for (let seed = 0; seed < seeds; seed++) {
      const { own, mixed } = storiesOf(published, 100 + seed);
      const limits = driftLimitsOf({ base: own, heldOut: null }, 100);
      percents.forEach((percent, at) => {
        const read = mixed(percent);
        const { measures, flags } = driftOf(read, { base: read, heldOut: null }, limits);
        const counts = found[at]!;
        if (flags.some(({ measure }) => measure === 'perplexity')) counts.drift += 1 / seeds;
        if (measures.perplexity > limits.base.single) counts.byOldRule += 1 / seeds;
        if (measures.beyond > limits.base.beyond) counts.beyond += 1 / seeds;
      });
    }
    const [none, few, ...many] = found;
    expect(none!.drift).toBeLessThanOrEqual(0.2);
    expect(none!.beyond).toBeLessThanOrEqual(0.2);
    expect(few!.drift).toBeGreaterThan(0.3);
    // The mean beside the limit of single samples: what a quantile of these forgives is more than 5 % salad.
    expect(few!.byOldRule).toBe(0);
    for (const { drift, beyond } of many) {
      expect(drift).toBeCloseTo(1, 9);
      expect(beyond).toBeCloseTo(1, 9);
    }
  });
});
