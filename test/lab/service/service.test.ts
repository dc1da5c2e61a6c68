import { describe, expect, it } from 'vitest';
import { gspo, ppo } from '../../../src/lab/objectives/objectives.js';
import { type Datum, lossOfDatum, lossTerms } from '../../../src/lab/service/service.js';

const bounds = { low: 0.8, high: 1.1 };
const scores = [-1, -2, -0.5, -3];
/** The last token is not part of the ratio, and its weight is 2. */
const datum: Datum = {
  prompt: Int32Array.of(1),
  tokens: Int32Array.of(2, 3, 4, 5),
  weights: [1, 1, 1, 2],
  logprobs: [-1.2, -1.8, -0.9, -9],
  advantages: [1, -2, 0.5, -1],
  ratioMask: [1, 1, 1, 0],
};

describe('gspo', () => {
  it('gives each token the ratio of its sequence: the geometric mean over the masked tokens', () => {
    const ratio = Math.exp((0.2 - 0.2 + 0.4) / 3);
    const objective = gspo(bounds);
    const terms = lossTerms(datum, scores, objective);
    const [losses, gradients] = [objective.loss, objective.gradient].map((f) => scores.map((_, at) => f(...terms(at))));
    const expected = [-1.1, 2 * ratio, -0.55, ratio];
    expected.forEach((loss, at) => expect(losses![at]).toBeCloseTo(loss, 9));
    [0, 2 * ratio, 0, ratio].forEach((slope, at) => expect(gradients![at]).toBeCloseTo(slope, 9));
    expect(lossOfDatum(datum, scores, objective)).toBeCloseTo(-1.1 + 2 * ratio - 0.55 + 2 * ratio, 9);
  });

  it('uses the tokens with a weight when there is no mask, and equals ppo for a sequence of one token', () => {
    const one: Datum = { ...datum, weights: [0, 1, 0, 0], ratioMask: undefined };
    expect(lossOfDatum(one, scores, gspo(bounds))).toBeCloseTo(lossOfDatum(one, scores, ppo(bounds)), 9);
  });
});
