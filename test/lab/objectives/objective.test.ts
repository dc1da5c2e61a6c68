import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cispo,
  dro,
  importanceSampling,
  objectiveOf,
  ppo,
  type Objective,
} from '../../../src/lab/objectives/objectives.js';

const clip = { low: 0.8, high: 1.2 };
const all = {
  is: importanceSampling,
  ppo: ppo(clip),
  cispo: cispo(clip),
  wide: cispo({ low: 0, high: 4 }),
  dro: dro(0.05),
};

/** Value and slope by hand: importance sampling, ppo, cispo 0.8–1.2, cispo 0–4, dro. */
const table: [lp: number, q: number, A: number, values: number[], slopes: number[]][] = [
  [-1, -1, 1, [-1, -1, 1, 1, 1], [-1, -1, -1, -1, -1]],
  [-1, -1, -0.25, [0.25, 0.25, -0.25, -0.25, -0.25], [0.25, 0.25, 0.25, 0.25, 0.25]],
  [-0.5, -1, 1, [-1.648721, -1.2, 0.6, 0.824361, 0.50625], [-1.648721, 0, -1.2, -1.648721, -0.975]],
  [-0.5, -1, -1, [1.648721, 1.648721, -0.6, -0.824361, -0.49375], [1.648721, 1.648721, 1.2, 1.648721, 1.025]],
  [-1.5, -1, 1, [-0.606531, -0.606531, 1.2, 0.909796, 1.50625], [-0.606531, -0.606531, -0.8, -0.606531, -1.025]],
  [-1.5, -1, -1, [0.606531, 0.8, -1.2, -0.909796, -1.49375], [0.606531, 0, 0.8, 0.606531, 0.975]],
  [
    -0.9,
    -1,
    0.75,
    [-0.828878, -0.828878, 0.74599, 0.74599, 0.67525],
    [-0.828878, -0.828878, -0.828878, -0.828878, -0.745],
  ],
  [0, -2, 0.5, [-3.694528, -0.6, 0, 0, 0.1], [-3.694528, 0, -0.6, -2, -0.4]],
  [-3, -1, -0.5, [0.067668, 0.4, -1.2, -0.203003, -1.4], [0.067668, 0, 0.4, 0.067668, 0.4]],
];

describe('the objectives', () => {
  it.each(table)('give the loss and gradient at lp=%f, q=%f, A=%f', (...[lp, q, A, values, slopes]) => {
    Object.values(all).forEach((objective, index) => {
      expect(objective.loss(lp, q, A)).toBeCloseTo(values[index]!, 5);
      expect(objective.gradient(lp, q, A)).toBeCloseTo(slopes[index]!, 5);
    });
  });

  const differences = (objective: Objective, lp: number, q: number, A: number) =>
    (objective.loss(lp + 1e-6, q, A) - objective.loss(lp - 1e-6, q, A)) / 2e-6;

  it.each(['is', 'ppo', 'dro'] as const)('%s has the derivative of its loss', (name) => {
    for (const [lp, q, A] of table)
      expect(differences(all[name], lp, q, A)).toBeCloseTo(all[name].gradient(lp, q, A), 4);
  });

  it('cispo holds its clipped ratio constant, so its gradient is not the derivative of its value', () => {
    expect(differences(all.wide, -0.5, -1, 1)).not.toBeCloseTo(all.wide.gradient(-0.5, -1, 1), 2);
  });

  it('ppo has zero gradient exactly where a token is beyond the bound towards which its advantage drives it', () => {
    const score = fc.double({ min: -5, max: 0, noNaN: true });
    fc.assert(
      fc.property(score, score, fc.double({ min: -5, max: 5, noNaN: true }), (lp, q, A) => {
        fc.pre(Math.abs(A) > 1e-3);
        const ratio = Math.exp(lp - q);
        const isPast = A > 0 ? ratio > clip.high : ratio < clip.low;
        expect(all.ppo.gradient(lp, q, A) === 0).toBe(isPast);
      }),
    );
  });

  it('all equal the policy gradient on-policy', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -20, max: 0, noNaN: true }),
        fc.double({ min: -5, max: 5, noNaN: true }),
        (lp, A) => {
          for (const { gradient } of Object.values(all)) expect(gradient(lp, lp, A)).toBeCloseTo(-A, 12);
        },
      ),
    );
  });

  it('have the documented defaults', () => {
    const standard = { clip_low_threshold: null, clip_high_threshold: null, beta: 0.05 };
    expect(objectiveOf('ppo', standard).gradient(-0.5, -1, 1)).toBe(0);
    expect(objectiveOf('cispo', standard).gradient(0, -2, 0.5)).toBe(-2);
    expect(objectiveOf('cispo', { ...standard, clip_high_threshold: 1.2 }).gradient(0, -2, 0.5)).toBe(-0.6);
    expect(objectiveOf('dro', standard).gradient(-3, -1, -0.5)).toBeCloseTo(0.4, 12);
    expect(objectiveOf('importance_sampling', standard).gradient(0, -2, 0.5)).toBeCloseTo(-3.694528, 6);
  });
});
