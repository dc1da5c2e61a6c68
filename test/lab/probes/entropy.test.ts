import { describe, expect, it } from 'vitest';
import { applyControlVariates, entropyControls } from '../../../src/lab/probes/control-variates.js';
import { entropyCurvature } from '../../../src/lab/probes/entropy-curvature.js';
import { credits, entropyDerivatives, entropySlope } from '../../../src/lab/probes/entropy-derivative.js';
import { entropyEstimates, total, units, type ScoredSequence } from '../../../src/lab/probes/entropy-estimates.js';
import { effectiveSampleSize, entropyChange } from '../../../src/lab/probes/importance-sampling.js';
import { dot } from '../../../src/lab/probes/vectors.js';
import { numbers } from '../engine/models.js';
import { along, atZero, everySequence, exactly, scored, slopesOf } from './enumerated-policy.js';

const all = everySequence.map((sequence) => scored(sequence, atZero));
const slopes = everySequence.map(slopesOf);

/** Of so many sequences, each drawn from all of them. */
function drawn(
  count: number,
  seed: number,
): { sequences: ScoredSequence[]; slopes: ScoredSequence[]; indices: number[] } {
  const random = numbers(seed);
  const indices = Array.from({ length: count }, () => Math.floor(random() * all.length));
  return { indices, sequences: indices.map((at) => all[at]!), slopes: indices.map((at) => slopes[at]!) };
}

const sums = (sequences: readonly ScoredSequence[], name: 'logprobs' | 'entropies') =>
  sequences.map((sequence) => total(sequence[name]));

/** The change of the entropy of these sequences' policy at θ + step·v, reweighted. */
function changeAlong(indices: readonly number[], step: number, per: 'token' | 'sequence' = 'token') {
  const now = indices.map((at) => all[at]!);
  const moved = indices.map((at) => scored(everySequence[at]!, along(step)));
  return entropyChange(
    {
      logprobs: sums(now, 'logprobs'),
      movedLogprobs: sums(moved, 'logprobs'),
      entropies: sums(now, 'entropies'),
      movedEntropies: sums(moved, 'entropies'),
      lengths: now.map(({ logprobs }) => logprobs.length),
    },
    { per },
  );
}

describe('estimates of entropy', () => {
  it('equal the exact entropy over all sequences of a policy, from drawn tokens and from distributions', () => {
    for (const [per, exact] of [
      ['sequence', exactly(atZero).perSequence],
      ['token', exactly(atZero).perToken],
    ] as const) {
      const { simple, raoBlackwell } = entropyEstimates(all, per);
      expect(simple.value).toBeCloseTo(exact, 12);
      expect(raoBlackwell.value).toBeCloseTo(exact, 12);
    }
  });

  it('have less variance from distributions than from drawn tokens', () => {
    const { simple, raoBlackwell } = entropyEstimates(all, 'sequence');
    expect(raoBlackwell.standardError).toBeLessThan(0.8 * simple.standardError);
  });

  it('state their actual error', () => {
    const exact = exactly(atZero).perToken;
    const inside = Array.from({ length: 200 }, (_, seed) => {
      const { value, standardError } = entropyEstimates(drawn(60, seed).sequences).raoBlackwell;
      return Math.abs(value - exact) < 1.96 * standardError;
    });
    expect(inside.filter(Boolean).length).toBeGreaterThan(180);
  });
});

describe('entropy after a step, by importance sampling', () => {
  // Three sequences worked out by hand.
  const fixture = {
    logprobs: [-10, -12, -8],
    movedLogprobs: [-9.5, -12.2, -8.1],
    entropies: [5, 6, 4],
    movedEntropies: [5.1, 5.8, 4.05],
    lengths: [10, 12, 8],
  };

  it('has the values of the fixture, per token and per sequence', () => {
    const perToken = entropyChange(fixture);
    expect(perToken.change).toBeCloseTo(0.001382024, 10);
    expect(perToken.ess).toBeCloseTo(2.70298, 6);
    [0.08395354, -0.05846373, -0.02410778].forEach((part, at) =>
      expect(perToken.contributions[at]).toBeCloseTo(part, 8),
    );
    expect(entropyChange(fixture, { per: 'sequence' }).change).toBeCloseTo(-0.0117839285, 10);
  });

  it('is the sum of the contributions of sequences', () => {
    for (const per of ['token', 'sequence'] as const) {
      const { change, contributions } = entropyChange(fixture, { per });
      expect(Math.abs(total(contributions) - change)).toBeLessThan(1e-12);
    }
  });

  it('is unchanged, with the full effective sample size, when the policy has not moved', () => {
    const { change, ess, clipShare } = changeAlong([...all.keys()], 0);
    expect([change, clipShare]).toEqual([0, 0]);
    expect(ess).toBeCloseTo(all.length, 6);
  });

  it('is exact over all sequences of a policy', () => {
    expect(changeAlong([...all.keys()], 0.7).after).toBeCloseTo(exactly(along(0.7)).perToken, 12);
    expect(changeAlong([...all.keys()], 0.7, 'sequence').after).toBeCloseTo(exactly(along(0.7)).perSequence, 12);
  });

  it.each(['token', 'sequence'] as const)('states its actual error, per %s', (per) => {
    const name = per === 'token' ? 'perToken' : 'perSequence';
    const exact = exactly(along(0.5))[name] - exactly(atZero)[name];
    const found = Array.from({ length: 300 }, (_, seed) => changeAlong(drawn(200, 5000 + seed).indices, 0.5, per));
    const rms = (values: readonly number[]) => Math.hypot(...values) / Math.sqrt(values.length);
    const spread = rms(found.map(({ change }) => change - exact));
    const stated = rms(found.map(({ standardError }) => standardError));
    expect(stated / spread).toBeGreaterThan(0.87);
    expect(stated / spread).toBeLessThan(1.13);
  });

  it('reports the share of clipped weights', () => {
    const { clipShare, logWeights } = entropyChange({ ...fixture, movedLogprobs: [0, -12, -8] }, { clip: 5 });
    expect(clipShare).toBeCloseTo(1 / 3, 12);
    expect(logWeights).toEqual({ min: 0, median: 0, max: 10 });
  });
});

describe('the effective sample size', () => {
  it('equals the fixture: two groups of two, with longest answers 3 and 2', () => {
    expect(effectiveSampleSize([1 / 6, 1 / 6, 1 / 4, 1 / 4])).toBeCloseTo(3.846154, 6);
  });

  it('is n for equal weights, 1 when one weight dominates, and invariant to scale', () => {
    expect(effectiveSampleSize([0.3, 0.3, 0.3])).toBeCloseTo(3, 12);
    expect(effectiveSampleSize([1, 1e-12, 1e-12])).toBeCloseTo(1, 9);
    expect(effectiveSampleSize([1e-300, 3e-300])).toBeCloseTo(effectiveSampleSize([1, 3]), 12);
  });
});

describe('the second derivative of entropy along a step', () => {
  const length = 1e-4;
  const [everyUp, everyDown] = [length, -length].map((step) => everySequence.map((each) => scored(each, along(step))));
  const measured = (indices: readonly number[], per: 'token' | 'sequence') => {
    const [here, up, down] = [all, everyUp!, everyDown!].map((scores) => indices.map((at) => scores[at]!));
    return entropyCurvature({ here: here!, up: up!, down: down!, length }, per);
  };

  it.each([
    ['token', 'perToken'],
    ['sequence', 'perSequence'],
  ] as const)(
    'is the second difference of the exact entropy, and has the error that it states, per %s',
    (per, name) => {
      const h = 1e-3;
      const [up, here, down] = [h, 0, -h].map((step) => exactly(along(step))[name]) as [number, number, number];
      const exact = (up - 2 * here + down) / h ** 2;
      expect(measured([...all.keys()], per).value / exact).toBeCloseTo(1, 4);
      const inside = Array.from({ length: 200 }, (_, seed) => measured(drawn(300, seed).indices, per)).filter(
        ({ value, standardError }) => Math.abs(value - exact) < 1.96 * standardError,
      );
      expect(inside.length / 200).toBeGreaterThan(0.88);
      expect(inside.length / 200).toBeLessThan(0.995);
    },
  );
});

describe('control variates', () => {
  it('have a mean of zero under the policy', () => {
    for (const values of Object.values(entropyControls(all, slopes))) {
      expect(total(values) / total(values.map(Math.abs))).toBeCloseTo(0, 6);
    }
  });

  it('keep the mean of an estimate, lower its variance, and state the remaining error', () => {
    const exact = entropySlope(all, slopes, { credit: 'whole' }).value;
    const estimates = Array.from({ length: 300 }, (_, seed) => {
      const { sequences, slopes: own } = drawn(200, seed);
      const plain = entropySlope(sequences, own, { credit: 'whole' });
      return { plain, less: applyControlVariates(plain, entropyControls(sequences, own)) };
    });
    const spread = (of: (each: (typeof estimates)[number]) => number) =>
      Math.sqrt(estimates.reduce((sum, each) => sum + (of(each) - exact) ** 2, 0) / 300);
    expect(spread(({ less }) => less.value)).toBeLessThan(0.95 * spread(({ plain }) => plain.value));
    const inside = estimates.filter(({ less }) => Math.abs(less.value - exact) < 1.96 * less.standardError);
    expect(inside.length / 300).toBeGreaterThan(0.9);
    expect(inside.length / 300).toBeLessThan(0.99);
  });

  it('change nothing when they are all zero', () => {
    const { value, varianceRatio } = applyControlVariates({ value: 3, influences: [1, 2] }, { none: [0, 0] });
    expect([value, varianceRatio]).toEqual([3, 1]);
  });
});

describe('the first-order change of entropy', () => {
  const h = 1e-4;
  const difference = (name: 'perToken' | 'perSequence') =>
    (exactly(along(h))[name] - exactly(along(-h))[name]) / (2 * h);

  it.each(credits)('is the derivative of the exact entropy over all sequences, with credit %s', (credit) => {
    // Without one's own sequence the mean of the others is off by 1/(N − 1) of it.
    const digits = credit === 'centred' ? 3 : 7;
    const [perToken, perSequence] = (['token', 'sequence'] as const).map((per) =>
      entropySlope(all, slopes, { per, credit }),
    );
    expect(perToken!.value).toBeCloseTo(difference('perToken'), digits);
    expect(perSequence!.value).toBeCloseTo(difference('perSequence'), digits);
  });

  it('is far off when lengths are taken as constant', () => {
    const { value } = entropySlope(all, slopes, { credit: 'to_go', hasDenominator: false });
    expect(Math.abs(value - difference('perToken'))).toBeGreaterThan(0.05);
  });

  it.each(units)('with credit whole is the derivative of the importance-sampling estimate, per %s', (per) => {
    for (const seed of [3, 13, 23]) {
      const { indices, sequences, slopes: own } = drawn(40, seed);
      const [up, down] = [changeAlong(indices, h, per).change, changeAlong(indices, -h, per).change];
      expect(entropySlope(sequences, own, { per, credit: 'whole' }).value).toBeCloseTo((up - down) / (2 * h), 6);
    }
  });

  it('equals one backward pass with its token weights', () => {
    const { sequences, slopes: own } = drawn(40, 4);
    const { byLogprob, byEntropy } = entropyDerivatives(sequences);
    const parts = own.map(
      ({ logprobs, entropies }, at) => dot(logprobs, byLogprob[at]!) + byEntropy * total(entropies),
    );
    expect(total(parts)).toBeCloseTo(entropySlope(sequences, own).value, 12);
  });

  const everyWay = credits.flatMap((credit) => units.map((per) => [credit, per] as const));
  it.each(everyWay)('states its actual error, with credit %s per %s', (credit, per) => {
    const exact = difference(per === 'token' ? 'perToken' : 'perSequence');
    const estimates = Array.from({ length: 300 }, (_, seed) => {
      const { sequences, slopes: own } = drawn(80, 5000 + seed);
      return entropySlope(sequences, own, { per, credit });
    });
    const inside = estimates.filter(({ value, standardError }) => Math.abs(value - exact) < 1.96 * standardError);
    expect(inside.length / estimates.length).toBeGreaterThan(0.9);
    const spread = Math.sqrt(estimates.reduce((sum, { value }) => sum + (value - exact) ** 2, 0) / estimates.length);
    const stated = Math.sqrt(
      estimates.reduce((sum, { standardError }) => sum + standardError ** 2, 0) / estimates.length,
    );
    expect(stated / spread).toBeGreaterThan(0.85);
    expect(stated / spread).toBeLessThan(1.15);
  });

  it('has the least variance with centred credit', () => {
    const errors = credits.map((credit) => {
      const { sequences, slopes: own } = drawn(500, 9);
      return entropySlope(sequences, own, { credit }).standardError;
    });
    expect(Math.min(...errors)).toBe(errors[credits.indexOf('centred')]);
  });

  it('differs from the exact change by an error of second order in the step', () => {
    const slope = entropySlope(all, slopes, { credit: 'to_go' }).value;
    const steps = [0.01, 0.001, 0.0001, 0.00001];
    const changes = steps.map((step) => exactly(along(step)).perToken - exactly(atZero).perToken);
    const errors = changes.map((change, at) => change / (steps[at]! * slope) - 1);
    for (const at of [1, 2, 3]) {
      expect(errors[at - 1]! / errors[at]!).toBeGreaterThan(9.7);
      expect(errors[at - 1]! / errors[at]!).toBeLessThan(10.3);
      expect(Math.abs(Math.log10(changes[at - 1]! / changes[at]!) - 1)).toBeLessThan(0.01);
    }
  });
});
