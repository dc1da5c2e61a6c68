import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { k3 } from '../../../src/lab/objectives/objectives.js';

describe('the KL term towards a reference', () => {
  it.each([
    [-1, 0.367879],
    [-0.1, 0.0048374],
    [0, 0],
    [0.1, 0.0051709],
    [1, 0.718282],
  ])('equals a computation by hand for a log-ratio of %f', (d, expected) => {
    expect(k3.loss(-2, -2 + d)).toBeCloseTo(expected, 6);
  });

  it('has the derivative of its loss', () => {
    for (const [lp, reference] of [
      [-1, -2],
      [-2, -1],
      [-0.3, -0.3],
      [-5, -4.5],
    ] as const) {
      const numeric = (k3.loss(lp + 1e-6, reference) - k3.loss(lp - 1e-6, reference)) / 2e-6;
      expect(numeric).toBeCloseTo(k3.gradient(lp, reference), 6);
    }
  });

  it('equals the KL on average over the policy’s tokens, and is never below zero', () => {
    const distribution = fc.array(fc.double({ min: 0.01, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 });
    const normed = (weights: number[]) =>
      weights.map((weight) => weight / weights.reduce((sum, each) => sum + each, 0));
    fc.assert(
      fc.property(distribution.map(normed), distribution.map(normed), (p, q) => {
        const terms = p.map((probability, at) => k3.loss(Math.log(probability), Math.log(q[at]!)));
        const average = terms.reduce((sum, term, at) => sum + p[at]! * term, 0);
        const divergence = p.reduce((sum, probability, at) => sum + probability * Math.log(probability / q[at]!), 0);
        expect(average).toBeCloseTo(divergence, 9);
        expect(Math.min(...terms)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
