import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advantages } from '../../../src/lab/advantages/advantages.js';
import { bitsOf } from '../../../src/lab/reference/channel.js';
import { parameterSteps, type Optimizer } from '../../../src/lab/reference/optimizer.js';

/** Where a parameter is after each step, from 0, with these gradients. */
function path(optimizer: Optimizer, learningRate: number, gradients: readonly number[]): number[] {
  const steps = parameterSteps(3, { optimizer, learningRate });
  let at = 0;
  return gradients.map((gradient) => {
    steps.add(1, gradient);
    steps.step((parameter, by) => {
      expect(parameter).toBe(1);
      at += by;
    });
    return at;
  });
}

describe('plain gradient steps', () => {
  it('ascend by the learning rate, and stay where there is no gradient', () => {
    expect(path('sgd', 0.5, [1, 0, -2])).toEqual([0.5, 0.5, -0.5]);
  });

  it('sum the gradients of one parameter before the step', () => {
    const steps = parameterSteps(2, { optimizer: 'sgd', learningRate: 2 });
    steps.add(0, 1);
    steps.add(0, 0.5);
    const changes: [number, number][] = [];
    steps.step((parameter, by) => changes.push([parameter, by]));
    steps.step((parameter, by) => changes.push([parameter, by]));
    expect(changes).toEqual([[0, 3]]);
  });
});

describe('steps of Adam', () => {
  it('begin with one learning rate, whatever the gradient', () => {
    const gradient = fc.oneof(
      fc.double({ min: 1e-3, max: 1e3, noNaN: true }),
      fc.double({ min: -1e3, max: -1e-3, noNaN: true }),
    );
    fc.assert(
      fc.property(gradient, (slope) => {
        expect(path('adam', 0.1, [slope])[0]! / (0.1 * Math.sign(slope))).toBeCloseTo(1, 4);
      }),
    );
  });

  // Of rewards between 0 and 1, never as small as what Adam adds to its divisor.
  const slope = fc.integer({ min: -200, max: 200 }).map((hundredths) => hundredths / 100);

  it('equal the closed formula, with bias correction of both moments', () => {
    fc.assert(
      fc.property(fc.array(slope, { minLength: 1, maxLength: 30 }), (slopes) => {
        const found = path('adam', 0.1, slopes);
        let at = 0;
        slopes.forEach((_, index) => {
          const weighted = (beta: number, power: number) =>
            slopes
              .slice(0, index + 1)
              .reduce((sum, slope, step) => sum + (1 - beta) * beta ** (index - step) * slope ** power, 0) /
            (1 - beta ** (index + 1));
          at += (0.1 * weighted(0.9, 1)) / (Math.sqrt(weighted(0.95, 2)) + 1e-8);
          expect(found[index]).toBeCloseTo(at, 6);
        });
      }),
    );
  });

  it('move by 5.8 learning rates after a single gradient of any size, late in training', () => {
    const quiet = new Array<number>(400).fill(0);
    // 0.447 / (1 − 0.9 / √0.95): a sum of steps that shrink by that factor each.
    const limit = 0.1 / Math.sqrt(0.05) / (1 - 0.9 / Math.sqrt(0.95));
    expect(limit).toBeCloseTo(5.84, 2);
    for (const slope of [0.75, -0.25]) {
      const end = path('adam', 0.1, [...quiet, slope, ...quiet]).at(-1)!;
      expect(end / (0.1 * Math.sign(slope))).toBeCloseTo(limit, 3);
    }
  });
});

describe('the gradient of a group on a table of logits', () => {
  it('is the sum of the advantages of an arm, since those of a group sum to zero', () => {
    const logits = fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 5, maxLength: 5 });
    const guess = fc.record({ arm: fc.nat({ max: 4 }), reward: fc.double({ min: 0, max: 1, noNaN: true }) });
    fc.assert(
      fc.property(logits, fc.array(guess, { minLength: 2, maxLength: 6 }), (theta, group) => {
        const gains = advantages(
          group.map(({ reward }) => [reward]),
          'stepwise',
        ).flat();
        const objective = (at: readonly number[]) => {
          const total = Math.log(at.reduce((sum, logit) => sum + Math.exp(logit), 0));
          return group.reduce((sum, { arm }, index) => sum + gains[index]! * (at[arm]! - total), 0);
        };
        theta.forEach((_, arm) => {
          const moved = (by: number) => objective(theta.with(arm, theta[arm]! + by));
          const sparse = group.reduce((sum, { arm: said }, index) => sum + (said === arm ? gains[index]! : 0), 0);
          expect((moved(1e-5) - moved(-1e-5)) / 2e-5).toBeCloseTo(sparse, 6);
        });
      }),
    );
  });
});

it.each([
  { what: 'a uniform guess', probability: 1 / 1024, N: 1024, bits: 0 },
  { what: 'the secret for sure', probability: 1, N: 1024, bits: 10 },
  { what: 'one of 32', probability: 2 ** -5, N: 1024, bits: 5 },
  { what: 'less than by chance', probability: 2 ** -12, N: 1024, bits: -2 },
  { what: 'the only one', probability: 1, N: 1, bits: 1 },
])('$what is $bits bits of $N', ({ probability, N, bits }) => expect(bitsOf(probability, N)).toBeCloseTo(bits, 9));
