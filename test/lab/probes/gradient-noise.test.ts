import { describe, expect, it } from 'vitest';
import {
  NoiseAverage,
  noiseOfExamples,
  noiseOfMicrobatches,
  noiseOfTwoBatches,
  noiseOfTwoSizes,
  noiseScale,
  type NoiseTerms,
} from '../../../src/lab/probes/gradient-noise.js';
import { rng } from '../../../src/lab/rng.js';

// True: ‖G‖² = 50 · 0.2² = 2, tr(Σ) = 50, and a noise scale of 25.
const [size, mean] = [50, 0.2];
const random = rng(7, 'gradients');

/** By Box and Muller. */
const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
const gradientOf = (examples: number) => Array.from({ length: size }, () => mean + normal() / Math.sqrt(examples));
const square = (vector: readonly number[]) => vector.reduce((sum, each) => sum + each * each, 0);

function averaged(count: number, measure: () => NoiseTerms): NoiseTerms {
  const terms = Array.from({ length: count }, measure);
  const part = (name: keyof NoiseTerms) => terms.reduce((sum, each) => sum + each[name], 0) / count;
  return { signal: part('signal'), noise: part('noise') };
}

/** Of a step of so many microbatches of four examples. */
function ofMicrobatches(count: number): NoiseTerms {
  const gradients = Array.from({ length: count }, () => gradientOf(4));
  const whole = Array.from({ length: size }, (_, at) => gradients.reduce((sum, each) => sum + each[at]!, 0) / count);
  return noiseOfMicrobatches(gradients.map(square), square(whole), 4);
}

describe('the gradient noise scale', () => {
  it.each([
    {
      from: 'batches of two sizes',
      measure: () =>
        noiseOfTwoSizes(
          { examples: 8, square: square(gradientOf(8)) },
          { examples: 64, square: square(gradientOf(64)) },
        ),
    },
    { from: 'the microbatches of a step', measure: () => ofMicrobatches(16) },
  ])('matches gradients with a known covariance, from $from', ({ measure }) => {
    const terms = averaged(4000, measure);
    expect(Math.abs(terms.signal - 2)).toBeLessThan(0.05);
    expect(Math.abs(terms.noise - 50)).toBeLessThan(1);
    expect(Math.abs(noiseScale(terms) - 25)).toBeLessThan(1);
  });

  it('states its actual error, from single examples and from two batches', () => {
    const products = (gradients: readonly number[][]) =>
      gradients.map((a) => gradients.map((b) => a.reduce((sum, each, at) => sum + each * b[at]!, 0)));
    const drawn = (count: number) => Array.from({ length: count }, () => gradientOf(1));
    const measures = [
      () => noiseOfExamples(products(drawn(40))),
      () => noiseOfTwoBatches(drawn(20).map(square), products(drawn(40))),
    ];
    for (const measure of measures) {
      const found = Array.from({ length: 300 }, measure);
      for (const [name, exact] of [
        ['signal', 2],
        ['noise', 50],
      ] as const) {
        const inside = found.filter((each) => Math.abs(each[name] - exact) < 1.96 * each.errors[name]);
        expect(inside.length / 300).toBeGreaterThan(0.88);
        expect(inside.length / 300).toBeLessThan(0.99);
      }
    }
  });

  it('is NaN when a term is not above zero, while both terms are still reported', () => {
    const terms = noiseOfTwoSizes({ examples: 2, square: 1 }, { examples: 8, square: 3 });
    expect(terms).toEqual({ signal: (2 - 24) / -6, noise: (16 * 2) / -6 });
    expect(noiseScale(terms)).toBeNaN();
    expect(noiseScale({ signal: -1, noise: 4 })).toBeNaN();
  });

  it('averages both terms before dividing them, with a bias correction for the first steps', () => {
    const average = new NoiseAverage(0.9);
    expect(average.add({ signal: 2, noise: 50 })).toEqual({ signal: 2, noise: 50 });
    const { signal, noise } = average.add({ signal: 4, noise: 10 });
    expect(signal).toBeCloseTo((0.09 * 2 + 0.1 * 4) / 0.19, 12);
    const again = new NoiseAverage(0.9);
    again.restore(average.state);
    expect(again.terms).toEqual({ signal, noise });
  });
});
