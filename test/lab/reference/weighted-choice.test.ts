import fc from 'fast-check';
import { expect, it } from 'vitest';
import { WeightedChoice } from '../../../src/lab/reference/weighted-choice.js';

const change = fc.record({ arm: fc.nat(), by: fc.double({ min: -3, max: 3, noNaN: true }) });

it('draws from the softmax of its logits, whatever has been changed', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(change), (size, changes) => {
      const choice = new WeightedChoice(size);
      const logits = new Array<number>(size).fill(0);
      for (const { arm, by } of changes) {
        choice.raise(arm % size, by);
        logits[arm % size]! += by;
      }
      const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
      let below = 0;
      logits.forEach((logit, arm) => {
        const probability = Math.exp(logit) / total;
        expect(choice.probability(arm)).toBeCloseTo(probability, 9);
        // The middle of the stretch of uniform numbers that belongs to the arm.
        if (probability > 1e-6) expect(choice.draw(below + probability / 2)).toBe(arm);
        below += probability;
      });
    }),
  );
});

it('is still exact after ten thousand changes there and back', () => {
  const choice = new WeightedChoice(7);
  for (let round = 0; round < 5000; round++) {
    choice.raise(round % 7, 12);
    choice.raise(round % 7, -12);
  }
  for (let arm = 0; arm < 7; arm++) expect(choice.probability(arm)).toBeCloseTo(1 / 7, 9);
});
