import { describe, expect, it } from 'vitest';
import {
  distributionProblem,
  gridValues,
  quantile,
  type Distribution,
} from '../../../../src/spec/expand/sampling/distribution.js';

const usual: Distribution = { name: 'uniform', min: 0, max: 1, mu: 0, sigma: 1, a: 1, b: 1, q: null, whole: false };
const of = (changes: Partial<Distribution>): Distribution => ({ ...usual, ...changes });

describe('the quantiles of a distribution', () => {
  it.each<{ name: string; changes: Partial<Distribution>; at: [number, number][] }>([
    {
      name: 'uniform',
      changes: { min: 2, max: 4 },
      at: [
        [0.5, 3],
        [0.25, 2.5],
      ],
    },
    {
      name: 'int_uniform',
      changes: { name: 'int_uniform', min: 1, max: 4 },
      at: [
        [0.01, 1],
        [0.26, 2],
        [0.99, 4],
      ],
    },
    {
      name: 'q_uniform',
      changes: { name: 'q_uniform', max: 10, q: 4 },
      at: [
        [0.19, 0],
        [0.21, 4],
        [0.99, 8],
      ],
    },
    {
      name: 'halves rounded to even',
      changes: { name: 'q_uniform', max: 8, q: 1 },
      at: [
        [0.0625, 0],
        [0.1875, 2],
      ],
    },
    { name: 'log_uniform', changes: { name: 'log_uniform', max: 2 }, at: [[0.5, Math.E]] },
    { name: 'inv_log_uniform', changes: { name: 'inv_log_uniform', max: 2 }, at: [[0.25, Math.exp(-1.5)]] },
    { name: 'log_uniform_values', changes: { name: 'log_uniform_values', min: 1, max: 100 }, at: [[0.5, 10]] },
    { name: 'inv_log_uniform_values', changes: { name: 'inv_log_uniform_values', min: 1, max: 100 }, at: [[0.5, 10]] },
    { name: 'q_log_uniform_values', changes: { name: 'q_log_uniform_values', min: 1, max: 100, q: 3 }, at: [[0.5, 9]] },
    // Python: statistics.NormalDist().inv_cdf
    {
      name: 'normal',
      changes: { name: 'normal' },
      at: [
        [1e-12, -7.034483825301132],
        [1e-5, -4.2648907939228256],
        [0.02, -2.0537489106318225],
        [0.3, -0.5244005127080407],
        [0.5, 0],
        [0.9, 1.2815515655446008],
        [0.999999, 4.753424308817089],
      ],
    },
    { name: 'normal, moved', changes: { name: 'normal', mu: 5, sigma: 2 }, at: [[0.9, 5 + 2 * 1.2815515655446008]] },
    { name: 'log_normal', changes: { name: 'log_normal', mu: 1 }, at: [[0.9, Math.exp(1 + 1.2815515655446008)]] },
    { name: 'q_normal', changes: { name: 'q_normal', sigma: 10, q: 5 }, at: [[0.9, 15]] },
    // Those with one shape of 1, and the arcsine law, can be inverted by hand.
    { name: 'beta(1, 3)', changes: { name: 'beta', b: 3 }, at: [[0.3, 1 - 0.7 ** (1 / 3)]] },
    {
      name: 'beta(5, 1)',
      changes: { name: 'beta', a: 5 },
      at: [
        [0.3, 0.3 ** 0.2],
        [0.9, 0.9 ** 0.2],
      ],
    },
    { name: 'beta(½, ½)', changes: { name: 'beta', a: 0.5, b: 0.5 }, at: [[0.3, Math.sin(0.15 * Math.PI) ** 2]] },
    { name: 'beta(50, 50)', changes: { name: 'beta', a: 50, b: 50 }, at: [[0.5, 0.5]] },
  ])('are right: $name', ({ changes, at }) => {
    for (const [u, value] of at) expect(quantile(of(changes), u)).toBeCloseTo(value, 11);
  });
});

describe('a distribution in a grid', () => {
  it.each<{ changes: Partial<Distribution>; gives: number[] | null }>([
    { changes: { name: 'int_uniform', min: -1, max: 2 }, gives: [-1, 0, 1, 2] },
    { changes: { name: 'q_uniform', min: 0, max: 6, q: 2 }, gives: [0, 2, 4] },
    { changes: { name: 'q_uniform', min: 0, max: 5, q: 2 }, gives: [0, 2, 4] },
    { changes: { name: 'uniform' }, gives: null },
    { changes: { name: 'int_uniform', min: 0, max: 1e15 }, gives: null },
  ])('is $gives', ({ changes, gives }) => expect(gridValues(of(changes), 1000)).toEqual(gives));
});

describe('numbers that make no distribution', () => {
  it.each<{ changes: Partial<Distribution>; says: string }>([
    { changes: { min: 1, max: 1 }, says: 'must be less than' },
    { changes: { name: 'log_uniform_values', min: -1 }, says: 'above 0' },
    { changes: { name: 'log_normal', sigma: 1000 }, says: 'too large' },
    { changes: { name: 'int_uniform', max: 2 ** 60, whole: true }, says: 'too large' },
  ])('are told: $says', ({ changes, says }) => expect(distributionProblem(of(changes))).toContain(says));

  it('are none of the others', () => expect(distributionProblem(of({ name: 'beta', a: 0.1 }))).toBeNull());
});
