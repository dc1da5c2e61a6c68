import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  drawEligibility,
  drawPasses,
  eligibleRewards,
  type LabelErrors,
  labelSamples,
} from '../../../src/lab/rewards/scores.js';
import { rng, type Rng } from '../../../src/lab/rng.js';

/** A stream that gives these numbers and then no more. */
function drawing(...numbers: number[]): Rng {
  const next = () => numbers.shift() ?? expect.fail('one draw too many');
  return { next, below: () => expect.fail('no whole number is drawn'), state: () => [0, 0, 0, 0] };
}

/** How many numbers this takes from a stream. */
function drawsOf(work: (random: Rng) => unknown): number {
  let draws = 0;
  const stream = rng(1, 'count');
  work({ ...stream, next: () => ((draws += 1), stream.next()) });
  return draws;
}

const bits = (written: string) => [...written].map((bit) => bit === '1');
const text = (flags: readonly boolean[]) => flags.map((flag) => (flag ? '1' : '0')).join('');
const faultless: LabelErrors = { recall: 1, falsePositiveRate: 0, labelNoiseFrac: 0 };

describe('the labels of a batch', () => {
  it('are the detector’s flags, restricted to routed samples', () => {
    expect(text(labelSamples(bits('1100'), null, faultless, drawing()).isHack)).toBe('1100');
    expect(text(labelSamples(bits('1100'), bits('1010'), faultless, drawing()).isHack)).toBe('1000');
  });

  it('lose flags by recall and gain flags by false positives, with one random draw per sample for both', () => {
    const errors = { ...faultless, recall: 0.8, falsePositiveRate: 0.1 };
    const labels = labelSamples(bits('110011'), null, errors, drawing(0.79, 0.8, 0.09, 0.1, 0, 0.99));
    expect(text(labels.isHack)).toBe('101010');
  });

  it('have noise on top, which adds flags to routed and other samples, and never removes one', () => {
    const errors = { ...faultless, labelNoiseFrac: 0.25 };
    const labels = labelSamples(bits('110000'), bits('101000'), errors, drawing(0.9, 0.2, 0.25, 0.24, 0.9, 0));
    expect(text(labels.isHack)).toBe('110101');
  });

  it('keep the detector’s verdict before any error, so that a missed hack is not taken for a good sample', () => {
    const errors = { recall: 0, falsePositiveRate: 1, labelNoiseFrac: 0 };
    const labels = labelSamples(bits('1010'), bits('1100'), errors, drawing(0.5, 0.5, 0.5, 0.5));
    expect([text(labels.isHack), text(labels.isDetectorGood)]).toEqual(['0100', '0101']);
  });

  it('are refused for lists of different lengths and shares outside [0, 1]', () => {
    expect(() => labelSamples(bits('10'), bits('1'), faultless, drawing())).toThrow('2, 1 entries');
    expect(() => labelSamples(bits('10'), null, { ...faultless, recall: Number.NaN }, drawing())).toThrow('NaN');
    expect(() => labelSamples(bits('10'), null, { ...faultless, labelNoiseFrac: 1.5 }, drawing())).toThrow('1.5');
  });
});

describe('eligibility', () => {
  it('is drawn for all samples first, then routing for all; only eligible samples are routed', () => {
    const drawn = drawEligibility(3, { eligibleFrac: 0.5, routingFrac: 0.2 }, drawing(0.4, 0.5, 0.1, 0.1, 0.1, 0.2));
    expect([text(drawn.eligible), text(drawn.routed)]).toEqual(['101', '100']);
  });

  it('draws nothing for shares of 0 or 1', () => {
    const all = drawEligibility(2, { eligibleFrac: 1, routingFrac: 1 }, drawing());
    const none = drawEligibility(2, { eligibleFrac: 1, routingFrac: 0 }, drawing());
    expect([all, none].map(({ eligible, routed }) => text([...eligible, ...routed]))).toEqual(['1111', '1100']);
  });

  it('decides which samples get the whole reward', () => {
    const draw = { eligible: bits('10'), routed: bits('10') };
    expect(eligibleRewards([5, 6], [1, 2], draw)).toEqual([5, 2]);
    expect(() => eligibleRewards([5, 6], [1], draw)).toThrow('2, 1, 2 entries');
  });
});

describe('the passes of a routed step', () => {
  const labels = { isHack: bits('110000'), isDetectorGood: bits('010111') };

  it.each([
    ['ground_truth_good', '000101'],
    ['not_classified_bad', '001101'],
  ] as const)('with the pool %s, the ablated ones are %s', (pool, ablated) => {
    const passes = drawPasses(labels, { share: 0.5, pool }, drawing(0, 0, 0.4, 0.4, 0.6, 0.1));
    expect([text(passes.hack), text(passes.ablated)]).toEqual(['110000', ablated]);
  });

  it('have every sample in exactly one of them, for any draws', () => {
    const flags = fc.array(fc.tuple(fc.boolean(), fc.boolean()), { maxLength: 20 });
    const pools = fc.constantFrom('ground_truth_good' as const, 'not_classified_bad' as const);
    fc.assert(
      fc.property(flags, pools, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(), (all, pool, share, seed) => {
        const drawn = { isHack: all.map(([is]) => is), isDetectorGood: all.map(([, is]) => is) };
        const { good, hack, ablated } = drawPasses(drawn, { share, pool }, rng(seed, 'ablated'));
        expect(hack).toEqual(drawn.isHack);
        const counts = hack.map((is, at) => Number(is) + Number(good[at]) + Number(ablated[at]));
        expect(counts).toEqual(all.map(() => 1));
      }),
    );
  });

  it('have the configured shares', () => {
    const samples = 20_000;
    const raw = Array.from({ length: samples }, (_, at) => at % 2 === 0);
    const random = rng(3, 'shares');
    const drawn = drawEligibility(samples, { eligibleFrac: 0.5, routingFrac: 0.2 }, random);
    const errors = { recall: 0.6, falsePositiveRate: 0.1, labelNoiseFrac: 0.05 };
    const { isHack, isDetectorGood } = labelSamples(raw, drawn.routed, errors, random);
    const { ablated } = drawPasses({ isHack, isDetectorGood }, { share: 0.3, pool: 'ground_truth_good' }, random);
    const share = (flags: readonly boolean[]) => flags.filter(Boolean).length / samples;
    // Routed: half of a fifth; of these the flags of hacks (0.6) and of the others (0.1); then 5 % of the rest.
    const flagged = 0.1 * (0.5 * 0.6 + 0.5 * 0.1);
    const good = 0.5 * (1 - 0.1 * 0.1) * (1 - 0.05);
    const near = (found: number, expected: number) =>
      expect(Math.abs(found - expected)).toBeLessThan(5 * Math.sqrt((expected * (1 - expected)) / samples));
    near(share(drawn.eligible), 0.5);
    near(share(drawn.routed), 0.1);
    near(share(isHack), flagged + (1 - flagged) * 0.05);
    near(share(ablated), 0.3 * good);
  });
});

describe('the number of draws', () => {
  it('depends on the settings alone, never on the samples', () => {
    const flags = fc.array(fc.boolean(), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(flags, flags, (raw, routed) => {
        const errors = { recall: 0.5, falsePositiveRate: 0, labelNoiseFrac: 0.5 };
        expect(drawsOf((random) => labelSamples(raw, routed, errors, random))).toBe(12);
        expect(drawsOf((random) => labelSamples(raw, routed, faultless, random))).toBe(0);
        const ablation = { share: 0.5, pool: 'ground_truth_good' } as const;
        expect(drawsOf((random) => drawPasses({ isHack: raw, isDetectorGood: routed }, ablation, random))).toBe(6);
      }),
    );
    expect(drawsOf((random) => drawEligibility(6, { eligibleFrac: 0.5, routingFrac: 0.5 }, random))).toBe(12);
  });
});
